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
import type { FirstAttempts } from './first-attempts.ts';
import { type MakeAttemptsDeps, makeAttempts, type Turn } from './make-attempts.ts';

export interface DeliveryActivityDeps extends MakeAttemptsDeps {
  readonly firstAttempts: FirstAttempts;
  /** Resolves once Temporal has started the retry workflow of a delivery, or knows it. */
  startRetry(retry: RetryStart): Promise<void>;
  readonly deliveries: Client<typeof DeliveryService>;
}

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

const WHEN_FULL_MS = 500;
const BETWEEN_STARTS_MS = 20;
const NOW_PATIENCE_MS = 20_000;
const RPC_TIMEOUT_MS = 5_000;
/** Of a cancellation: the delivery has ended otherwise, or its time is up. */
const ENDED: ReadonlySet<Code> = new Set([Code.FailedPrecondition, Code.NotFound]);

/** The activities of delivery. What they answer, and what their failures say, holds ids, states and times only. */
export function createDeliveryActivities(deps: DeliveryActivityDeps) {
  return {
    /** The first attempt of each delivery of a batch, side by side: joins those that have begun here. */
    async sendBatch({ batchId, deliveryIds, haveBegun }: DeliverBatchInput): Promise<DeliverBatchResult> {
      const turns = await deps.firstAttempts.finish(batchId, deliveryIds, haveBegun);
      const succeeded = turns.filter(({ status }) => status === DeliveryStatus.SUCCEEDED).length;
      const retries = turns.map(({ retry }) => retry).filter((retry) => retry !== undefined);
      await startAll(deps, retries);
      return {
        succeeded,
        goingOn: retries.length,
        left: turns.length - succeeded - retries.length,
      };
    },

    /**
     * One turn of a delivery. Answers once there is nothing left to do; until then it fails and names the delay to
     * the next turn. After the last attempt of the schedule it fails for good (DELIVERY_EXHAUSTED).
     * @param now makes the first turn due; those that follow are due by the schedule.
     */
    async attemptDelivery(deliveryId: string, now: boolean): Promise<RetryDeliveryResult> {
      const [turn] =
        now && activityInfo().attempt === 1
          ? await attemptNow(deps, deliveryId)
          : await attemptWhenDue(deps, deliveryId);
      const end = endOf(turn!);
      if (end === undefined) throw nextAttempt(turn!.story, turn!.delayMs);
      return end;
    },

    /** Ends the delivery as CANCELED, if it has not ended. */
    async cancelDelivery({ deliveryId, merchantId, environment }: RetryDeliveryInput): Promise<void> {
      const tenant = { merchantId, environment: environmentEnum(environment) };
      const request = { ...tenant, deliveryId, idempotencyKey: randomUUID() };
      await deps.deliveries.cancelDelivery(request, { timeoutMs: RPC_TIMEOUT_MS }).catch((error: unknown) => {
        if (!ENDED.has(ConnectError.from(error).code)) throw error;
      });
    },
  };
}

/**
 * One after another: nothing is due for seconds, and a burst of starts would hold up deliveries that work. Throws when
 * all have been tried.
 */
async function startAll({ startRetry }: DeliveryActivityDeps, retries: readonly RetryStart[]) {
  const errors: unknown[] = [];
  for (const [index, retry] of retries.entries()) {
    if (index > 0) await delay(BETWEEN_STARTS_MS);
    await startRetry(retry).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

async function attemptWhenDue(deps: DeliveryActivityDeps, deliveryId: string) {
  if (deps.attempts.room <= 0) throw nextAttempt('the worker has its hands full', WHEN_FULL_MS);
  return makeAttempts(deps, [{ deliveryId }]);
}

/** Goes on asking while the services are away: the next turn asks for what is due only. */
function attemptNow(deps: DeliveryActivityDeps, deliveryId: string) {
  return retrying(() => makeAttempts(deps, [{ deliveryId, now: true }]), {
    forMs: NOW_PATIENCE_MS,
    codeOf: (error) => ConnectError.from(error).code,
  });
}

/** What the delivery has come to; undefined while it goes on. */
function endOf({ status, story }: Turn): RetryDeliveryResult | undefined {
  switch (status) {
    case DeliveryStatus.SUCCEEDED:
    case DeliveryStatus.HELD:
    case DeliveryStatus.CANCELED:
      return DeliveryStatus[status] as RetryDeliveryResult;
    // It waits in the table, and goes on in a batch.
    case DeliveryStatus.BLOCKED:
      return 'HELD';
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

/** What came of a turn, and when the next is due. */
function nextAttempt(story: string, delayMs: number) {
  const next = new Date(Date.now() + Math.max(Math.ceil(delayMs), 1)).toISOString();
  return retryLater(`${story}; next at ${next}`, delayMs);
}
