import { PercentUnit, RequestsPerSecond, Seconds } from '@grafana/grafana-foundation-sdk/units';
import { chart, dashboard, quantile } from './chart.ts';

const DURATION = 'payments_http_duration_seconds';
const requestsBy = (label: string, matchers = '') =>
  `sum by (${label}) (rate(${DURATION}_count${matchers}[5m]))`;

export const publicApi = dashboard(
  'payments-public-api',
  'public API',
  'Requests of merchants, from the gateways.',
  [
    chart('Requests by environment', RequestsPerSecond, { '{{environment}}': requestsBy('environment') }),
    chart('Requests by status', RequestsPerSecond, { '{{status}}': requestsBy('status') }),
    chart('Failed requests (5xx)', PercentUnit, {
      '{{environment}}': `${requestsBy('environment', '{status=~"5.."}')} / ${requestsBy('environment')}`,
    }).description('Alerts: PublicApiFails, PublicApiFailsNowAndThen'),
    chart('Latency', Seconds, {
      '{{environment}} p50': quantile(0.5, DURATION, 'environment'),
      '{{environment}} p95': quantile(0.95, DURATION, 'environment'),
      '{{environment}} p99': quantile(0.99, DURATION, 'environment'),
    }).description('Alert: PublicApiSlow'),
    chart('Slowest operations (p95)', Seconds, {
      '{{operation}}': `topk(10, ${quantile(0.95, DURATION, 'operation')})`,
    }),
    chart('Busiest operations', RequestsPerSecond, {
      '{{operation}}': `topk(10, ${requestsBy('operation')})`,
    }),
  ],
);
