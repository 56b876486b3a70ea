import { setTimeout as delay } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AttemptFailure,
  type AwaitAttemptRequest,
  type AwaitAttemptResponseSchema,
  type DeliveryStateSchema,
  DeliveryStatus,
  type RequestAttemptRequest,
  type RequestAttemptResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import type { AttemptFailureName, DeliveryStatusName } from '../deliveries/delivery.ts';
import { DELIVERY_BY_ID } from '../deliveries/delivery-by-id.sql.ts';

/** The owner of the lane reads the change. With `now`, the attempt is due whatever its time. */
const REQUEST: Statement = {
  name: 'request_attempt',
  text: `
update webhooks.open_delivery
   set requested = true, next_attempt_at = least(next_attempt_at, now()), changed_xid = pg_current_xact_id()
 where id = :id and status = 'RETRYING' and (:now::boolean or next_attempt_at <= now())
   and in_flight_until is null and not requested
returning attempt_count`,
};

/** Requests the next attempt of a delivery, if it is due, from the owner of its lane. */
export async function requestAttempt(
  { run }: CrossTenantDatabase,
  outboxSignal: OutboxSignal,
  { deliveryId: id, now }: RequestAttemptRequest,
): Promise<MessageInitShape<typeof RequestAttemptResponseSchema>> {
  const [updated] = await run<Pick<RetryRow, 'attempt_count'>>(REQUEST, { id, now });
  const row = await readRetry(run, id);
  // The owner may have made the attempt since the update; without one, an earlier call may have requested it.
  const requested = updated ?? (row?.requested ? row : undefined);
  if (!requested) return { state: stateMessage(row) };
  outboxSignal.committed('EVENTS');
  return { attemptNumber: requested.attempt_count + 1, state: stateMessage(row) };
}

/** The first wait between two polls: most attempts end soon, but one that hangs takes 15 s. */
const FIRST_POLL_MS = 25;
const MAX_POLL_MS = 1_000;

/** Waits for the end of an attempt. @param signal ends the wait: of the caller, or of services that are stopping. */
export async function awaitAttempt(
  { run }: CrossTenantDatabase,
  { deliveryId: id, attemptNumber, waitMs }: AwaitAttemptRequest,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof AwaitAttemptResponseSchema>> {
  const endsAt = performance.now() + waitMs;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const row = await readRetry(run, id);
    const ended = hasEnded(row, attemptNumber);
    const leftMs = endsAt - performance.now();
    if (ended || leftMs <= 0 || signal.aborted) return { ended, state: stateMessage(row) };
    await delay(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => undefined);
  }
}

/** A delivery, open or ended, as its retry workflow needs it, with the last attempt. */
interface RetryRow {
  readonly status: DeliveryStatusName;
  /** Whether the next attempt has been requested and is not recorded yet. */
  readonly requested: boolean;
  /** The number of recorded attempts, including one in flight. */
  readonly attempt_count: number;
  readonly due_in_ms: number | null;
  readonly in_flight_for_ms: number | null;
  readonly number: number | null;
  /** Like the failure, null while the attempt is in flight. */
  readonly http_status: number | null;
  readonly failure: AttemptFailureName | null;
}

const READ: Statement = {
  name: 'read_retry_state',
  text: `
select d.status, d.requested, d.attempt_count,
       extract(epoch from d.next_attempt_at - now())::float8 * 1000 as due_in_ms,
       extract(epoch from d.in_flight_until - now())::float8 * 1000 as in_flight_for_ms,
       a.number, a.http_status, a.failure
  from (select :id::uuid as id) input${DELIVERY_BY_ID}
  left join lateral (
    select number, http_status, failure from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = d.attempt_count limit 1
  ) a on true`,
};

/** Undefined for a delivery that retention has dropped. */
export async function readRetry(run: Run, id: string): Promise<RetryRow | undefined> {
  const [row] = await run<RetryRow>(READ, { id });
  return row;
}

/** An attempt that is recorded as in flight has not ended; one that is no longer requested will never be made. */
function hasEnded(row: RetryRow | undefined, attemptNumber: number): boolean {
  if (row?.status !== 'RETRYING') return true;
  if (row.attempt_count < attemptNumber) return !row.requested;
  return row.attempt_count > attemptNumber || !isInFlight(row);
}

/** Whether the last attempt is recorded as in flight. */
const isInFlight = ({ number, http_status, failure }: RetryRow) =>
  number !== null && http_status === null && failure === null;

const CLOSED_WITHIN_MS = 1_000;

function stateMessage(row: RetryRow | undefined): MessageInitShape<typeof DeliveryStateSchema> {
  if (!row) return { status: DeliveryStatus.CANCELED };
  // The owner of the lane closes an attempt whose process has died.
  const inFlightMs = isInFlight(row) ? Math.max(row.in_flight_for_ms ?? 0, CLOSED_WITHIN_MS) : 0;
  const delayMs = Math.max(inFlightMs, row.due_in_ms ?? 0, 0);
  return {
    status: DeliveryStatus[row.status],
    delayMs: BigInt(Math.ceil(delayMs)),
    lastAttemptNumber: row.number ?? undefined,
    httpStatus: row.http_status ?? undefined,
    failure: row.failure ? AttemptFailure[row.failure] : undefined,
  };
}
