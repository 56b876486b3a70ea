import { withFinalRefusals } from '../final-refusal.ts';
import type { WebhookClients } from './delivery.activities.ts';

export type RetentionActivities = ReturnType<typeof createRetentionActivities>;

/** The call starts no further work after half of this time. */
const CALL = { timeoutMs: 60_000 };

/** The activity of the retention. */
export function createRetentionActivities({ dispatch }: Pick<WebhookClients, 'dispatch'>) {
  return withFinalRefusals({
    /** Applies part of the retention. A repeated call continues, and waits for an earlier one whose answer was lost. */
    async applyRetention() {
      const { $typeName: _, $unknown: __, ...step } = await dispatch.applyRetention({}, CALL);
      return { ...step, expiredDeliveries: Number(step.expiredDeliveries) };
    },
  });
}
