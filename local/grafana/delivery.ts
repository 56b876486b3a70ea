import { RequestsPerSecond, Seconds, Short } from '@grafana/grafana-foundation-sdk/units';
import { chart, dashboard, quantile } from './chart.ts';

const DELAY = 'payments_webhook_first_attempt_delay_seconds';
const DURATION = 'payments_webhook_attempt_duration_seconds';

export const delivery = dashboard(
  'payments-delivery',
  'webhook delivery',
  "Deliveries from their events to merchants' endpoints.",
  [
    chart('Attempts by outcome', RequestsPerSecond, {
      '{{environment}} {{outcome}}':
        'sum by (environment, outcome) (rate(payments_webhook_attempts_total[5m]))',
    }).description('Alerts: WebhookAttemptsFail, WebhookWayOutBroken, WebhookNoneDelivered'),
    chart('From the event to the first attempt', Seconds, {
      '{{environment}} p50': quantile(0.5, DELAY, 'environment'),
      '{{environment}} p99': quantile(0.99, DELAY, 'environment'),
    }).description('Alert: WebhookFirstAttemptsLate'),
    chart('Duration of attempts', Seconds, {
      '{{environment}} p50': quantile(0.5, DURATION, 'environment'),
      '{{environment}} p95': quantile(0.95, DURATION, 'environment'),
    }),
    chart('Open deliveries', Short, {
      '{{environment}} {{status}}': 'max by (environment, status) (payments_webhook_open_deliveries)',
    }).description('Alerts: WebhookDeliveriesWait, WebhookDeliveriesHeld'),
    chart('Lag of lane owners and of retries', Seconds, {
      'lanes {{instance}}': 'max by (instance) (payments_webhook_send_lag_seconds)',
      retries: 'max(payments_webhook_retry_overdue_seconds)',
    }).description('Alerts: WebhookOwnerLags, WebhookRetriesOverdue'),
    chart('Lanes without an owner', Short, { lanes: 'max(payments_webhook_unowned_lanes)' }).description(
      'Alert: WebhookLanesUnowned',
    ),
    chart('Attempts in flight', Short, {
      '{{instance}}': 'max by (instance) (payments_webhook_attempts_open)',
    }).description('Alert: WebhookOwnerFull'),
    chart('Troubled subscriptions', Short, {
      '{{environment}} {{condition}}':
        'max by (environment, condition) (payments_webhook_troubled_subscriptions)',
    }).description('Alert: WebhookSubscriptionsGivenUp'),
  ],
);
