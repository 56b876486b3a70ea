import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Resend, ResendState } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  MAX_WAITING,
  type ResendDeliveriesInput,
  type ResendDeliveriesResult,
  workflowId,
} from '../../services/contracts/webhooks/resend-deliveries.contract.ts';
import { tenantFields } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import type { WebhookClients } from './delivery.activities.ts';
import { retryLater } from './retry-later.ts';

export type ResendActivities = ReturnType<typeof createResendActivities>;

/** The pause between two steps while there are more deliveries to create: up to five hundred a second. */
const STEP_MS = 200;
/** After this time the activity fails with its progress, which the Temporal UI shows. */
const PROGRESS_INTERVAL_MS = 3_000;
/**
 * The delay between two tries while there is nothing to do: a twentieth of the resend's age, so that polling costs
 * little.
 */
const POLL_INTERVAL = { minMs: 500, maxMs: 30_000, maxWithMoreMs: 5_000, ofAge: 1 / 20 };

/** The activities of resends. Their results and failures contain ids, states and numbers only. */
export function createResendActivities({ dispatch, deliveries }: WebhookClients) {
  return withFinalRefusals({
    /**
     * Continues a resend as long as it makes progress. Returns once it has ended; until then it fails with the delay
     * to the next try.
     */
    async continueResend(resendId: string): Promise<ResendDeliveriesResult> {
      const endsAt = performance.now() + PROGRESS_INTERVAL_MS;
      for (;;) {
        const step = await dispatch.continueResend({ resendId, maxDeliveries: MAX_WAITING });
        const resend = step.resend!;
        const result = resultOf(resend);
        if (result) return result;
        if (!step.more || step.waiting)
          throw retryLater(statusMessage(resend), pollIntervalMs(resend, step.more));
        if (performance.now() >= endsAt) throw retryLater(statusMessage(resend), STEP_MS);
        await delay(STEP_MS);
      }
    },

    /** Ends the resend as CANCELED, if it has not ended. */
    async cancelResend({ resendId, ...tenant }: ResendDeliveriesInput): Promise<void> {
      const idempotencyKey = workflowId(resendId);
      await deliveries.cancelResend({ ...tenantFields(tenant), resendId, idempotencyKey });
    },
  });
}

/** Undefined until the resend has ended. */
function resultOf(resend: Resend): ResendDeliveriesResult | undefined {
  const { state, madeCount, succeededCount, exhaustedCount, canceledCount } = resend;
  if (state !== ResendState.COMPLETED && state !== ResendState.CANCELED) return undefined;
  return {
    state: state === ResendState.COMPLETED ? 'COMPLETED' : 'CANCELED',
    made: Number(madeCount),
    succeeded: Number(succeededCount),
    exhausted: Number(exhaustedCount),
    canceled: Number(canceledCount),
  };
}

function pollIntervalMs({ createdAt }: Resend, more: boolean): number {
  const intervalMs = (Date.now() - timestampMs(createdAt!)) * POLL_INTERVAL.ofAge;
  const maxMs = more ? POLL_INTERVAL.maxWithMoreMs : POLL_INTERVAL.maxMs;
  return Math.min(Math.max(intervalMs, POLL_INTERVAL.minMs), maxMs);
}

function statusMessage(resend: Resend): string {
  const { madeCount, expectedCount, openCount, succeededCount, exhaustedCount, canceledCount } = resend;
  return (
    `${madeCount} of ${expectedCount} deliveries created: ${succeededCount} succeeded, ${openCount} open, ` +
    `${exhaustedCount} exhausted, ${canceledCount} canceled`
  );
}
