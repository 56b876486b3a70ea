import { setTimeout as delay } from 'node:timers/promises';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { DELIVERY_BY_ID } from '../attempts/record-attempts.sql.ts';
import type { AttemptFailureName, DeliveryStatusName } from '../deliveries/delivery.ts';

/** The owner of the lane reads the change. With `now`, the attempt is due whatever its time. */
const REQUEST: Statement = {
  name: 'request_attempt',
  text: `
update webhooks.open_delivery
   set requested = true, next_attempt_at = least(next_attempt_at, now()), changed_xid = pg_current_xact_id()
 where id = :id and status = 'RETRYING' and (:now::boolean or next_attempt_at <= now())
   and in_flight_until is null and not requested`,
};

/** The number of the requested attempt, undefined if none is due, and the state of the delivery. */
export interface RequestedAttempt {
  readonly attemptNumber: number | undefined;
  readonly state: RetryState;
}

/** Requests the next attempt, if it is due. */
export async function requestAttempt(
  { run }: CrossTenantDatabase,
  id: string,
  now: boolean,
): Promise<RequestedAttempt> {
  await run(REQUEST, { id, now });
  const state = await readRetryState(run, id);
  return { attemptNumber: state.requested ? state.attemptCount + 1 : undefined, state };
}

/** The first wait between two polls: most attempts end soon, but one that hangs takes 15 s. */
const FIRST_POLL_MS = 25;
const MAX_POLL_MS = 1_000;

/** Waits for the end of an attempt. @returns whether it has ended, and the state of the delivery. */
export async function awaitAttempt(
  db: CrossTenantDatabase,
  { id, attemptNumber, waitMs }: { id: string; attemptNumber: number; waitMs: number },
  signal: AbortSignal,
): Promise<{ readonly ended: boolean; readonly state: RetryState }> {
  const endsAt = performance.now() + waitMs;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const state = await readRetryState(db.run, id);
    const ended = hasEnded(state, attemptNumber);
    const leftMs = endsAt - performance.now();
    if (ended || leftMs <= 0 || signal.aborted) return { ended, state };
    await delay(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => undefined);
  }
}

/** An attempt that is recorded as in flight has not ended; one that is no longer requested will never be made. */
function hasEnded({ status, requested, attemptCount, last }: RetryState, attemptNumber: number): boolean {
  if (status !== 'RETRYING') return true;
  if (attemptCount < attemptNumber) return !requested;
  return attemptCount > attemptNumber || last?.httpStatus !== undefined || last?.failure !== undefined;
}

/** A delivery as its retry workflow needs it. */
export interface RetryState {
  readonly status: DeliveryStatusName;
  readonly requested: boolean;
  /** The number of recorded attempts, including one in flight. */
  readonly attemptCount: number;
  /** Milliseconds until the next attempt is due or, while one is in flight, until that one counts as lost. */
  readonly delayMs: number;
  /** The last attempt; in progress if it has neither status nor failure. */
  readonly last: LastAttempt | undefined;
}

interface LastAttempt {
  readonly number: number;
  readonly httpStatus: number | undefined;
  readonly failure: AttemptFailureName | undefined;
}

interface StateRow {
  readonly status: DeliveryStatusName;
  readonly requested: boolean;
  readonly attempt_count: number;
  readonly due_in_ms: number | null;
  readonly in_flight_for_ms: number | null;
  readonly number: number | null;
  readonly in_progress: boolean;
  readonly http_status: number | null;
  readonly failure: AttemptFailureName | null;
}

const READ: Statement = {
  name: 'read_retry_state',
  text: `
select d.status, d.requested, d.attempt_count,
       extract(epoch from d.next_attempt_at - now())::float8 * 1000 as due_in_ms,
       extract(epoch from d.in_flight_until - now())::float8 * 1000 as in_flight_for_ms,
       a.number, a.number is not null and a.ended_at is null as in_progress, a.http_status, a.failure
  from (select :id::uuid as id) asked${DELIVERY_BY_ID}
  left join lateral (
    select number, ended_at, http_status, failure from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = d.attempt_count limit 1
  ) a on true`,
};

const CLOSED_WITHIN_MS = 1_000;

/** The state of a delivery that retention has dropped, with nothing left to do. */
const GONE: RetryState = {
  status: 'CANCELED',
  requested: false,
  attemptCount: 0,
  delayMs: 0,
  last: undefined,
};

/** The state of a delivery, open or ended. */
export async function readRetryState(run: Run, id: string): Promise<RetryState> {
  const [row] = await run<StateRow>(READ, { id });
  if (!row) return GONE;
  const { number, in_progress, http_status, failure, in_flight_for_ms } = row;
  // The owner of the lane closes an attempt whose process has died.
  const inFlightMs = in_progress ? Math.max(in_flight_for_ms ?? 0, CLOSED_WITHIN_MS) : 0;
  return {
    status: row.status,
    requested: row.requested,
    attemptCount: row.attempt_count,
    delayMs: Math.max(inFlightMs, row.due_in_ms ?? 0, 0),
    last:
      number === null
        ? undefined
        : { number, httpStatus: http_status ?? undefined, failure: failure ?? undefined },
  };
}
