import { Gauge } from 'prom-client';
import { metrics } from '../../platform/process/telemetry.ts';

/**
 * Counts of what an owner of lanes cannot deliver and has set aside, so that it does not stop anything else.
 * - RESULT: the results of attempts cannot be recorded.
 * - EVENT: the events of deliveries are missing.
 * - SUBSCRIPTION: subscriptions have no secret that can be decrypted, or cannot be read.
 */
export interface SetAside {
  readonly RESULT: number;
  readonly EVENT: number;
  readonly SUBSCRIPTION: number;
}

const REASONS = ['RESULT', 'EVENT', 'SUBSCRIPTION'] as const;

/** The lanes of this process: one, or several in tests. */
const running = new Set<() => SetAside>();

new Gauge({
  name: 'payments_webhook_set_aside',
  help: 'Deliveries (RESULT, EVENT) and subscriptions (SUBSCRIPTION) that this owner of lanes has set aside, by reason.',
  labelNames: ['reason'],
  registers: [metrics],
  collect() {
    const counts = [...running].map((count) => count());
    for (const reason of REASONS) {
      this.set(
        { reason },
        counts.reduce((sum, count) => sum + count[reason], 0),
      );
    }
  },
});

/** Counts what is set aside at every scrape, until the returned function is called. */
export function countSetAside(count: () => SetAside): () => void {
  running.add(count);
  return () => running.delete(count);
}
