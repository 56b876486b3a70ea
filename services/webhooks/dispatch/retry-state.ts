import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { DELIVERY_BY_ID } from '../attempts/delivery-by-id.sql.ts';
import type { AttemptFailureName, DeliveryStatusName } from '../deliveries/delivery.ts';

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
