import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  type DeliveryService,
  DeliveryStatus,
  type RetryStart,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type {
  DeliverBatchInput,
  DeliverBatchResult,
} from '../../services/contracts/webhooks/deliver-batch.contract.ts';
import type {
  RetryDeliveryInput,
  RetryDeliveryResult,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import { environmentEnum } from '../../services/platform/tenant.ts';
import { retryLater } from '../retry-later.ts';
import { retrying } from '../retrying.ts';
import type { EagerAttempts } from './eager-attempts.ts';
import { type AttemptOutcome, type MakeAttemptsDeps, makeAttempts } from './make-attempts.ts';

export interface DeliveryActivityDeps extends MakeAttemptsDeps {
  readonly eagerAttempts: EagerAttempts;
  /** Resolves once Temporal has started the retry workflow of a delivery, or when it already runs. */
  startRetry(retry: RetryStart): Promise<void>;
  readonly deliveries: Client<typeof DeliveryService>;
}

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

const FULL_RETRY_MS = 500;
const START_INTERVAL_MS = 20;
const RETRY_NOW_FOR_MS = 20_000;
const RPC_TIMEOUT_MS = 5_000;
/** Refusals of a cancellation: the delivery has ended otherwise, or its retention period has. */
const ENDED: ReadonlySet<Code> = new Set([Code.FailedPrecondition, Code.NotFound]);

/** The activities of delivery. Their results and failures contain ids, statuses and times only. */
export function createDeliveryActivities(deps: DeliveryActivityDeps) {
  return {
    /** Makes the first attempt of each delivery of a batch, in parallel; joins attempts that were started here. */
    async sendBatch({
      batchId,
      deliveryIds,
      startedEagerly,
    }: DeliverBatchInput): Promise<DeliverBatchResult> {
      const outcomes = await deps.eagerAttempts.join(batchId, deliveryIds, startedEagerly);
      const succeeded = outcomes.filter(({ status }) => status === DeliveryStatus.SUCCEEDED).length;
      const retries = outcomes.map(({ retry }) => retry).filter((retry) => retry !== undefined);
      await startAll(deps, retries);
      return {
        succeeded,
        retrying: retries.length,
        skipped: outcomes.length - succeeded - retries.length,
      };
    },

    /**
     * Makes the next attempt of a delivery, if it is due. Returns once the retry workflow has nothing left to do; until
     * then it fails and names the delay to the next try. After the last attempt of the schedule it fails for good
     * (DELIVERY_EXHAUSTED).
     * @param now makes the first attempt due; later ones follow the schedule.
     */
    async attemptDelivery(deliveryId: string, now: boolean): Promise<RetryDeliveryResult> {
      const [outcome] =
        now && activityInfo().attempt === 1
          ? await attemptNow(deps, deliveryId)
          : await attemptWhenDue(deps, deliveryId);
      const result = resultOf(outcome!);
      if (result === undefined) throw retryAt(outcome!.statusMessage, outcome!.delayMs);
      return result;
    },

    /** Ends the delivery as CANCELED, if it has not ended. */
    async cancelDelivery({ deliveryId, merchantId, environment }: RetryDeliveryInput): Promise<void> {
      const request = {
        merchantId,
        environment: environmentEnum(environment),
        deliveryId,
        idempotencyKey: randomUUID(),
      };
      await deps.deliveries.cancelDelivery(request, { timeoutMs: RPC_TIMEOUT_MS }).catch((error: unknown) => {
        if (!ENDED.has(ConnectError.from(error).code)) throw error;
      });
    },
  };
}

/**
 * Starts one after another: nothing is due for seconds, and a burst of starts would delay healthy deliveries. Throws
 * after all have been tried.
 */
async function startAll({ startRetry }: DeliveryActivityDeps, retries: readonly RetryStart[]) {
  const errors: unknown[] = [];
  for (const [index, retry] of retries.entries()) {
    if (index > 0) await delay(START_INTERVAL_MS);
    await startRetry(retry).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

async function attemptWhenDue(deps: DeliveryActivityDeps, deliveryId: string) {
  if (deps.attempts.capacity <= 0) throw retryAt('the worker is at capacity', FULL_RETRY_MS);
  return makeAttempts(deps, [{ deliveryId }]);
}

/** Retries while the services are unavailable, because the next try of the activity only makes an attempt that is due. */
function attemptNow(deps: DeliveryActivityDeps, deliveryId: string) {
  return retrying(() => makeAttempts(deps, [{ deliveryId, now: true }]), {
    forMs: RETRY_NOW_FOR_MS,
    codeOf: (error) => ConnectError.from(error).code,
  });
}

/** The result of the retry workflow; undefined while it continues. */
function resultOf({ status, statusMessage }: AttemptOutcome): RetryDeliveryResult | undefined {
  switch (status) {
    case DeliveryStatus.SUCCEEDED:
    case DeliveryStatus.HELD:
    case DeliveryStatus.CANCELED:
      return DeliveryStatus[status] as RetryDeliveryResult;
    // It waits in the table, and continues in a batch.
    case DeliveryStatus.BLOCKED:
      return 'HELD';
    case DeliveryStatus.EXHAUSTED:
      throw ApplicationFailure.nonRetryable(
        `${statusMessage}; this was the last attempt`,
        'DELIVERY_EXHAUSTED',
      );
    case DeliveryStatus.PENDING:
    case DeliveryStatus.RETRYING:
    case DeliveryStatus.UNSPECIFIED:
    case undefined:
      return undefined;
    default:
      return status satisfies never;
  }
}

function retryAt(statusMessage: string, delayMs: number) {
  const next = new Date(Date.now() + Math.max(Math.ceil(delayMs), 1)).toISOString();
  return retryLater(`${statusMessage}; next attempt at ${next}`, delayMs);
}
