import type { CallOptions, Client } from '@connectrpc/connect';
import type { DispatchService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { withFinalRefusals } from '../final-refusal.ts';
import type { RetentionResult } from './retention.contract.ts';

/** The changes of one call. */
export interface RetentionStep extends RetentionResult {
  readonly more: boolean;
}

export type RetentionActivities = ReturnType<typeof createRetentionActivities>;

/** The call starts no further work after half of this time. */
const CALL: CallOptions = { timeoutMs: 60_000 };

/** The activity of the retention. */
export function createRetentionActivities({
  dispatch,
}: {
  readonly dispatch: Client<typeof DispatchService>;
}) {
  return withFinalRefusals({
    /** Applies part of the retention. A repeated call continues, and waits for an earlier one whose answer was lost. */
    async applyRetention(): Promise<RetentionStep> {
      const step = await dispatch.applyRetention({}, CALL);
      const { createdPartitions, droppedPartitions, waitingPartitions, more } = step;
      const expiredDeliveries = Number(step.expiredDeliveries);
      return { createdPartitions, droppedPartitions, waitingPartitions, expiredDeliveries, more };
    },
  });
}
