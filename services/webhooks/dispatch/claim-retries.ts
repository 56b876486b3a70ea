import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { AttemptFailureName, DeliveryStatusName } from '../deliveries/delivery.ts';
import { claimWithinLimits, IS_LIMITED } from './attempt-limits.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { MAX_IN_FLIGHT, MAX_SLOW, RETRY_IN_FLIGHT_MS, SLOW_AFTER_MS } from './dispatch-limits.ts';

/** Whether the attempt of a retry is made now, or when to ask again. */
export type RetryDecision = 'SEND' | { readonly delayMs: number; readonly last: LastAttempt | undefined };

/** The last attempt; it is in progress if it has neither status nor failure. */
export interface LastAttempt {
  readonly number: number;
  readonly httpStatus: number | null;
  readonly failure: AttemptFailureName | null;
}

/** A retry that a worker asks about. */
export interface RetryRequest {
  readonly deliveryId: string;
  readonly now: boolean;
}

interface RetryStateRow {
  readonly id: string;
  readonly subscription_id: string;
  readonly status: DeliveryStatusName;
  readonly leased_to: string | null;
  readonly due_in_ms: number;
  readonly in_flight_for_ms: number | null;
  readonly number: number | null;
  readonly in_progress: boolean;
  readonly http_status: number | null;
  readonly failure: AttemptFailureName | null;
  readonly in_flight: number;
  readonly slow: number;
  /** Until the first of the subscription's attempts in flight must have ended. */
  readonly free_in_ms: number | null;
  /** The subscription has limits of its own. */
  readonly limited: boolean;
}

const LOCK_RETRIES: Statement = {
  name: 'lock_retries',
  text: `
select d.id, d.subscription_id, d.status, d.leased_to,
       exists (select from webhooks.subscription s where s.id = d.subscription_id and (${IS_LIMITED})) as limited,
       extract(epoch from d.next_attempt_at - now())::float8 * 1000 as due_in_ms,
       extract(epoch from d.in_flight_until - now())::float8 * 1000 as in_flight_for_ms,
       a.number, a.number is not null and a.ended_at is null as in_progress, a.http_status, a.failure, other.*
  from webhooks.open_delivery d
  left join lateral (
    select number, ended_at, http_status, failure from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = d.attempt_count limit 1
  ) a on true
 cross join lateral (
   select count(*)::int as in_flight,
          (count(*) filter (where in_flight_since < now() - interval '${SLOW_AFTER_MS} ms'))::int as slow,
          extract(epoch from min(in_flight_until) - now())::float8 * 1000 as free_in_ms
     from webhooks.open_delivery b
    where b.subscription_id = d.subscription_id and b.in_flight_since is not null and b.in_flight_until > now()
 ) other
 where d.id = any (:ids::uuid[])
 order by d.id
   for update of d`,
};

/** A delivery with an attempt in flight stays as it is. */
const MAKE_DUE: Statement = {
  name: 'make_due',
  text: `
update webhooks.open_delivery set next_attempt_at = now()
 where id = any (:ids::uuid[]) and status = 'RETRYING' and next_attempt_at > now() and in_flight_until is null`,
};

const MARK_IN_FLIGHT: Statement = {
  name: 'mark_in_flight',
  text: `
update webhooks.open_delivery set in_flight_since = now(), in_flight_until = now() + interval '${RETRY_IN_FLIGHT_MS} ms'
 where id = any (:ids::uuid[])`,
};

const RECHECK_MS = 1_000;
const MAX_MIN_WAIT_MS = 15_000;
/** The wait for a delivery that is leased to another caller: once overdue, the retry is requeued for any caller. */
const NOT_LEASED_MS = 5_000;

/**
 * Decides for each retry whether its attempt is made now; it counts as in flight from then on. Attempts whose worker is
 * lost are closed first.
 */
export async function claimRetries(
  { db, recorder }: { db: CrossTenantDatabase; recorder: AttemptRecorder },
  caller: string,
  requests: readonly RetryRequest[],
  requestId: string,
): Promise<Map<string, RetryDecision>> {
  if (requests.length === 0) return new Map();
  const ids = requests.map(({ deliveryId }) => deliveryId);
  const now = requests.filter((request) => request.now).map(({ deliveryId }) => deliveryId);
  if (now.length > 0) await db.run(MAKE_DUE, { ids: now });
  const claim = () => db.transaction((run) => claimOnce(run, caller, ids));
  const { decisions, lost } = await claim();
  if (lost.length === 0) return decisions;
  await recorder.closeLost(lost, requestId);
  return new Map([...decisions, ...(await claim()).decisions]);
}

async function claimOnce(run: Run, caller: string, ids: readonly string[]) {
  const rows = await run<RetryStateRow>(LOCK_RETRIES, { ids });
  const open = rows.filter(({ status }) => status === 'RETRYING');
  const ready = open.filter((row) => row.limited && delayOf(row, caller) === undefined);
  const delays = await claimWithinLimits(run, ready);
  const decisions = new Map(
    open.map((row) => [row.id, decisionOf(row, delayOf(row, caller) ?? delays.get(row.id))]),
  );
  const sent = open.filter(({ id }) => decisions.get(id) === 'SEND').map(({ id }) => id);
  if (sent.length > 0) await run(MARK_IN_FLIGHT, { ids: sent });
  return { decisions, lost: open.filter(isLost).map(({ id }) => id) };
}

function decisionOf(row: RetryStateRow, delayMs: number | undefined): RetryDecision {
  if (delayMs === undefined) return 'SEND';
  const { number, http_status: httpStatus, failure } = row;
  const last = number === null ? undefined : { number, httpStatus, failure };
  return { delayMs: Math.ceil(delayMs), last };
}

/** Until the next try, in milliseconds; undefined if the attempt is due and the subscription's limits allow it. */
function delayOf(row: RetryStateRow, caller: string): number | undefined {
  if (row.leased_to !== caller) return NOT_LEASED_MS;
  // The jitter spreads retries whose attempts started together.
  if (row.in_flight_for_ms !== null && row.in_flight_for_ms > 0)
    return row.in_flight_for_ms + Math.random() * RECHECK_MS;
  if (row.in_progress) return RECHECK_MS;
  if (row.due_in_ms > 0) return row.due_in_ms;
  if (row.slow < MAX_SLOW && row.in_flight < MAX_IN_FLIGHT) return undefined;
  const freeInMs = Math.min(Math.max(row.free_in_ms ?? 0, RECHECK_MS), MAX_MIN_WAIT_MS);
  // More may wait than will fit: the jitter spreads them over up to half the wait.
  return freeInMs * (1 + Math.random() / 2);
}

const isLost = ({ in_progress, in_flight_for_ms }: RetryStateRow) =>
  in_progress && (in_flight_for_ms ?? 0) <= 0;
