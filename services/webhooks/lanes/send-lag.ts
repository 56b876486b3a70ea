import { Gauge } from 'prom-client';
import { metrics } from '../../platform/process/telemetry.ts';

/** The lanes of this process: one, or several in tests. */
const running = new Set<() => number>();

new Gauge({
  name: 'payments_webhook_send_lag_seconds',
  help: 'How long deliveries that could be sent have waited for this owner of lanes, in its memory or in the table.',
  registers: [metrics],
  collect() {
    this.set(Math.max(0, ...[...running].map((lagMs) => lagMs())) / 1_000);
  },
});

/** Measures a lag in milliseconds at every scrape, until the returned function is called. */
export function measureSendLag(lagMs: () => number): () => void {
  running.add(lagMs);
  return () => running.delete(lagMs);
}
