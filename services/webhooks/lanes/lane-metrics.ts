import { registerMeasuredGauges, rowOf } from '../../platform/process/measured-gauges.ts';

/** What an owner of lanes measures. */
export interface LaneMeasures {
  /** The longest that a delivery which could be sent has waited, in milliseconds. */
  readonly lagMs: number;
  /**
   * Counts of what cannot be delivered and is set aside, so that it does not stop anything else.
   * - RESULT: the results of attempts cannot be recorded.
   * - EVENT: the events of deliveries are missing.
   * - SUBSCRIPTION: subscriptions have no secret that can be decrypted, or cannot be read.
   */
  readonly setAside: readonly { readonly reason: (typeof REASONS)[number]; readonly count: number }[];
}

const REASONS = ['RESULT', 'EVENT', 'SUBSCRIPTION'] as const;

/** Registers gauges of this process's lanes, which are measured when /metrics is read. */
export function registerLaneMetrics(measure: () => LaneMeasures): void {
  registerMeasuredGauges({
    measure: async () => measure(),
    cacheMs: 0,
    gauges: [
      {
        name: 'payments_webhook_send_lag_seconds',
        help: 'How long deliveries that could be sent have waited for this owner of lanes, in its memory or in the table.',
        read: ({ lagMs }) => lagMs / 1_000,
      },
      {
        name: 'payments_webhook_set_aside',
        help: 'Deliveries (RESULT, EVENT) and subscriptions (SUBSCRIPTION) that this owner of lanes has set aside, by reason.',
        labels: REASONS.map((reason) => ({ reason })),
        read: ({ setAside }, labels) => rowOf(setAside, labels)!.count,
      },
    ],
  });
}
