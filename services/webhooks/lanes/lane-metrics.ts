import { Gauge } from 'prom-client';
import { metrics } from '../../platform/process/telemetry.ts';

const SET_ASIDE = ['RESULT', 'EVENT', 'SUBSCRIPTION'] as const;

/** What an owner of lanes measures at every scrape. */
export interface LaneMeasures {
  /** The longest that a delivery which could be sent has waited, in milliseconds. */
  lagMs(): number;
  /**
   * Counts of what cannot be delivered and is set aside, so that it does not stop anything else.
   * - RESULT: the results of attempts cannot be recorded.
   * - EVENT: the events of deliveries are missing.
   * - SUBSCRIPTION: subscriptions have no secret that can be decrypted, or cannot be read.
   */
  setAside(): Readonly<Record<(typeof SET_ASIDE)[number], number>>;
}

/** The lanes of this process: one, or several in tests. */
const running = new Set<LaneMeasures>();

new Gauge({
  name: 'payments_webhook_send_lag_seconds',
  help: 'How long deliveries that could be sent have waited for this owner of lanes, in its memory or in the table.',
  registers: [metrics],
  collect() {
    this.set(Math.max(0, ...[...running].map((lanes) => lanes.lagMs())) / 1_000);
  },
});

new Gauge({
  name: 'payments_webhook_set_aside',
  help: 'Deliveries (RESULT, EVENT) and subscriptions (SUBSCRIPTION) that this owner of lanes has set aside, by reason.',
  labelNames: ['reason'],
  registers: [metrics],
  collect() {
    const counts = [...running].map((lanes) => lanes.setAside());
    for (const reason of SET_ASIDE) {
      this.set(
        { reason },
        counts.reduce((sum, count) => sum + count[reason], 0),
      );
    }
  },
});

/** Measures the lanes at every scrape, until the returned function is called. */
export function measureLanes(lanes: LaneMeasures): () => void {
  running.add(lanes);
  return () => running.delete(lanes);
}
