import { Counter } from 'prom-client';
import { metrics } from './telemetry.ts';

const refusals = new Counter({
  name: 'payments_overload_refusals_total',
  help: 'Requests that were refused because as many as the process accepts at once were running, by API.',
  labelNames: ['api'],
  registers: [metrics],
});

/** Returns a function that counts a request refused because an API is overloaded. The counter starts at 0. */
export function countOverloads(api: 'internal' | 'public'): () => void {
  refusals.inc({ api }, 0);
  return () => refusals.inc({ api });
}
