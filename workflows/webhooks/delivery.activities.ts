import { randomUUID } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  AttemptFailure,
  type DeliveryService,
  type DeliveryState,
  DeliveryStatus,
  type DispatchService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type {
  DeliveryRecord,
  RecordDeliveriesInput,
} from '../../services/contracts/webhooks/record-deliveries.contract.ts';
import type {
  RetryDeliveryInput,
  RetryDeliveryResult,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import { unlessRefused } from '../../services/platform/rpc/connect-errors.ts';
import { tenantFields } from '../../services/platform/tenant.ts';
import { retryLater } from './retry-later.ts';

/** The services of webhooks. */
export interface WebhookClients {
  readonly dispatch: Client<typeof DispatchService>;
  readonly deliveries: Client<typeof DeliveryService>;
}

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/** How long each call waits; the activity, whose timeout is a minute, makes two. */
const WAIT_MS = 20_000;
const WAITS = 2;
const CALL = { timeoutMs: 5_000 };
const WAIT_CALL = { timeoutMs: WAIT_MS + 5_000 };
/** The heartbeat details once the attempt has been requested, for the next try of the activity. */
const REQUESTED = 'requested';
/** Infrequent, because Temporal persists every heartbeat: an attempt that hangs costs two. */
const HEARTBEAT_MS = 4_000;
/** An attempt that has not begun, because its subscription is at a limit, is requested again after this time. */
const REQUEST_AGAIN_MS = 1_000;

/** The activities of delivery. Their results and failures contain ids, statuses and times only. */
export function createDeliveryActivities({ dispatch, deliveries }: WebhookClients) {
  return {
    /**
     * Requests the next attempt of a delivery, if it is due, and awaits it. Returns once the retry workflow has
     * nothing left to do; until then it fails with the delay to the next try. After the last attempt of the schedule
     * it fails for good (DELIVERY_EXHAUSTED).
     * @param now makes the next attempt due at once, by the first try that reaches the services; later ones follow
     *   the schedule.
     */
    async attemptDelivery(deliveryId: string, now: boolean): Promise<RetryDeliveryResult> {
      const context = Context.current();
      let details: unknown = context.info.heartbeatDetails;
      // Lets Temporal detect a worker that has died.
      const heartbeats = setInterval(() => context.heartbeat(details), HEARTBEAT_MS);
      const signal = stopSignal(context);
      try {
        // Only once: later tries of the activity follow the schedule.
        const isNow = now && details !== REQUESTED;
        const { attemptNumber, state } = await dispatch.requestAttempt({ deliveryId, now: isNow }, CALL);
        details = REQUESTED;
        if (isNow) context.heartbeat(details);
        if (attemptNumber === undefined) return resultOf(state!);
        for (let wait = 0; wait < WAITS; wait += 1) {
          const awaited = await dispatch.awaitAttempt(
            { deliveryId, attemptNumber, waitMs: WAIT_MS },
            { ...WAIT_CALL, signal },
          );
          if (awaited.ended) return resultOf(awaited.state!);
        }
        throw retryLater(`attempt ${attemptNumber} has not been made yet`, REQUEST_AGAIN_MS);
      } catch (error) {
        if (!signal.aborted) throw error;
        throw retryLater('the worker stopped; another one awaits the attempt', REQUEST_AGAIN_MS);
      } finally {
        clearInterval(heartbeats);
      }
    },

    /** Lists the deliveries that a workflow of records shows. */
    async listDeliveryRecords({ workflowId }: RecordDeliveriesInput): Promise<DeliveryRecord[]> {
      const { deliveries: records } = await dispatch.listDeliveryRecords({ workflowId }, CALL);
      return records.map(({ $typeName: _, $unknown: __, deliveryId: id, ...record }) => ({ id, ...record }));
    },

    /** Ends the delivery as CANCELED, if neither it nor its retention period has ended. */
    async cancelDelivery({ deliveryId, ...tenant }: RetryDeliveryInput): Promise<void> {
      const request = { ...tenantFields(tenant), deliveryId, idempotencyKey: randomUUID() };
      const canceled = deliveries.cancelDelivery(request, CALL);
      await unlessRefused(canceled, { DELIVERY_STATE: undefined, DELIVERY_NOT_FOUND: undefined });
    },
  };
}

/** Aborts when the worker stops, not when the workflow cancels the activity, which awaits the attempt in progress. */
function stopSignal(context: Context): AbortSignal {
  const stop = new AbortController();
  context.cancelled.catch(() => {
    if (context.cancellationDetails?.workerShutdown) stop.abort();
  });
  return stop.signal;
}

/** The result of the retry workflow; throws while it continues, and when the delivery is exhausted. */
function resultOf(state: DeliveryState): RetryDeliveryResult {
  switch (state.status) {
    case DeliveryStatus.SUCCEEDED:
    case DeliveryStatus.HELD:
    case DeliveryStatus.CANCELED:
      return DeliveryStatus[state.status] as RetryDeliveryResult;
    // The delivery waits in the table, and continues without this workflow.
    case DeliveryStatus.PENDING:
    case DeliveryStatus.BLOCKED:
      return 'HELD';
    case DeliveryStatus.EXHAUSTED:
      throw ApplicationFailure.create({
        message: `${lastAttemptOf(state)}; this was the last attempt`,
        type: 'DELIVERY_EXHAUSTED',
        nonRetryable: true,
        // The endpoint has failed, not the workflow.
        category: ApplicationFailureCategory.BENIGN,
      });
    case DeliveryStatus.RETRYING:
    case DeliveryStatus.UNSPECIFIED:
      throw retryAt(state);
    default:
      return state.status satisfies never;
  }
}

function retryAt(state: DeliveryState) {
  // The attempt was due when it was requested, but is in progress or has just been rescheduled.
  const delayMs = Math.max(Number(state.delayMs), REQUEST_AGAIN_MS / 4);
  const next = new Date(Date.now() + delayMs).toISOString();
  return retryLater(`${lastAttemptOf(state)}; next attempt at ${next}`, delayMs);
}

/** For people, without text from the receiver: `attempt 2: HTTP 503`. */
function lastAttemptOf({ lastAttemptNumber, httpStatus, failure }: DeliveryState): string {
  if (lastAttemptNumber === undefined) return 'no attempt is due yet';
  if (failure !== undefined) return `attempt ${lastAttemptNumber}: ${AttemptFailure[failure]}`;
  return `attempt ${lastAttemptNumber}: ${httpStatus === undefined ? 'in progress' : `HTTP ${httpStatus}`}`;
}
