import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DeliverBatchInput } from './deliver-batch.contract.ts';
import { type MakeAttemptsDeps, makeAttempts, type Turn } from './make-attempts.ts';
import type { RetryDeliveryInput, RetryDeliveryResult } from './retry-delivery.contract.ts';
import { retryDeliveryInput } from './retry-delivery.input.ts';

export interface BatchOutcome {
  readonly succeeded: number;
  readonly retries: readonly RetryDeliveryInput[];
  /** Nothing was sent, or nothing more is to be. */
  readonly left: number;
}

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

const WHEN_FULL_MS = 500;

/** The activities of delivery. What they answer, and what their failures say, holds ids, states and times only. */
export function createDeliveryActivities(deps: MakeAttemptsDeps) {
  return {
    /** The first attempt of each delivery of a batch, side by side. */
    async sendBatch({ batchId, deliveryIds }: DeliverBatchInput): Promise<BatchOutcome> {
      // Those under way end within their timeout, and the slot held meanwhile keeps others from coming.
      while (deps.attempts.room <= 0) await delay(WHEN_FULL_MS);
      const turns = await makeAttempts(
        deps,
        deliveryIds.map((deliveryId) => ({ deliveryId, batchId })),
      );
      const succeeded = turns.filter(({ status }) => status === DeliveryStatus.SUCCEEDED).length;
      const retries = turns.map(({ retry }) => retry).filter((retry) => retry !== undefined);
      return {
        succeeded,
        retries: retries.map(retryDeliveryInput),
        left: turns.length - succeeded - retries.length,
      };
    },

    /**
     * One turn of a delivery. Answers once there is nothing left to do; until then it fails and names the delay to
     * the next turn. After the last attempt of the schedule it fails for good (DELIVERY_EXHAUSTED).
     */
    async attemptDelivery(deliveryId: string): Promise<RetryDeliveryResult> {
      if (deps.attempts.room <= 0) throw nextTurn('the worker has its hands full', WHEN_FULL_MS);
      const [turn] = await makeAttempts(deps, [{ deliveryId }]);
      const end = endOf(turn!);
      if (end === undefined) throw nextTurn(turn!.story, turn!.delayMs);
      return end;
    },
  };
}

/** What the delivery has come to; undefined while it goes on. */
function endOf({ status, story }: Turn): RetryDeliveryResult | undefined {
  switch (status) {
    case DeliveryStatus.SUCCEEDED:
    case DeliveryStatus.HELD:
    case DeliveryStatus.CANCELED:
      return DeliveryStatus[status] as RetryDeliveryResult;
    case DeliveryStatus.EXHAUSTED:
      throw ApplicationFailure.nonRetryable(`${story}; it was the last`, 'DELIVERY_EXHAUSTED');
    case DeliveryStatus.PENDING:
    case DeliveryStatus.RETRYING:
    case DeliveryStatus.UNSPECIFIED:
    case undefined:
      return undefined;
    default:
      return status satisfies never;
  }
}

/** A failure after which Temporal waits for exactly this long. */
function nextTurn(story: string, delayMs: number): ApplicationFailure {
  const nextRetryDelay = Math.max(Math.ceil(delayMs), 1);
  const next = new Date(Date.now() + nextRetryDelay).toISOString();
  return ApplicationFailure.create({
    message: `${story}; next at ${next}`,
    type: 'NEXT_TURN',
    nextRetryDelay,
    // Nothing is wrong with us: not to be logged.
    category: ApplicationFailureCategory.BENIGN,
  });
}
