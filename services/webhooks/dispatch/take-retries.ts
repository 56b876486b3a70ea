import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { AttemptFailureName, DeliveryStatusName } from '../deliveries/delivery.ts';
import { IS_LIMITED, takeWithinLimits } from './attempt-limits.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { MAX_BUSY, MAX_SLOW, RETRY_BUSY_MS, SLOW_AFTER_MS } from './dispatch-limits.ts';

/** Whether a retry goes now, or when to ask again. */
export type RetryTurn = 'SEND' | { readonly delayMs: number; readonly last: LastAttempt | undefined };

/** How the last attempt stands; with neither status nor failure it is under way. */
export interface LastAttempt {
  readonly number: number;
  readonly httpStatus: number | null;
  readonly failure: AttemptFailureName | null;
}

/** Which retry a worker asks about, and whether its attempt is to be made now. */
export interface RetryQuestion {
  readonly deliveryId: string;
  readonly now: boolean;
}

interface RetryStateRow {
  readonly id: string;
  readonly subscription_id: string;
  readonly status: DeliveryStatusName;
  readonly leased_to: string | null;
  readonly due_in_ms: number;
  readonly busy_in_ms: number | null;
  readonly number: number | null;
  readonly under_way: boolean;
  readonly http_status: number | null;
  readonly failure: AttemptFailureName | null;
  readonly busy: number;
  readonly slow: number;
  /** Until the first of the subscription's attempts under way ends at the latest. */
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
       extract(epoch from d.busy_until - now())::float8 * 1000 as busy_in_ms,
       a.number, a.number is not null and a.ended_at is null as under_way, a.http_status, a.failure, other.*
  from webhooks.open_delivery d
  left join lateral (
    select number, ended_at, http_status, failure from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = d.attempt_count limit 1
  ) a on true
 cross join lateral (
   select count(*)::int as busy,
          (count(*) filter (where busy_since < now() - interval '${SLOW_AFTER_MS} ms'))::int as slow,
          extract(epoch from min(busy_until) - now())::float8 * 1000 as free_in_ms
     from webhooks.open_delivery b
    where b.subscription_id = d.subscription_id and b.busy_since is not null and b.busy_until > now()
 ) other
 where d.id = any ($1::uuid[])
 order by d.id
   for update of d`,
};

/** One that has an attempt under way is busy, and stays as it is. */
const MAKE_DUE: Statement = {
  name: 'make_due',
  text: `
update webhooks.open_delivery set next_attempt_at = now()
 where id = any ($1::uuid[]) and status = 'RETRYING' and next_attempt_at > now() and busy_until is null`,
};

const MARK_BUSY: Statement = {
  name: 'mark_busy',
  text: `
update webhooks.open_delivery set busy_since = now(), busy_until = now() + interval '${RETRY_BUSY_MS} ms'
 where id = any ($1::uuid[])`,
};

const ASK_AGAIN_MS = 1_000;
const LONGEST_LEAST_WAIT_MS = 15_000;
/** Of what is leased to another caller: an overdue retry is handed out again, to whoever asks for work. */
const NOT_LEASED_MS = 5_000;

/**
 * Decides for each retry whether its attempt goes now; those that do count as under way from then on. An attempt whose
 * worker is lost is closed first.
 */
export async function takeRetries(
  { db, recorder }: { db: CrossTenantDatabase; recorder: AttemptRecorder },
  caller: string,
  questions: readonly RetryQuestion[],
  requestId: string,
): Promise<Map<string, RetryTurn>> {
  if (questions.length === 0) return new Map();
  const ids = questions.map(({ deliveryId }) => deliveryId);
  const now = questions.filter((question) => question.now).map(({ deliveryId }) => deliveryId);
  if (now.length > 0) await db.run(MAKE_DUE, [now]);
  const take = () => db.transaction((run) => takeOnce(run, caller, ids));
  const { turns, lost } = await take();
  if (lost.length === 0) return turns;
  await recorder.closeLost(lost, requestId);
  return new Map([...turns, ...(await take()).turns]);
}

async function takeOnce(run: Run, caller: string, ids: readonly string[]) {
  const rows = await run<RetryStateRow>(LOCK_RETRIES, [ids]);
  const open = rows.filter(({ status }) => status === 'RETRYING');
  const ready = open.filter((row) => row.limited && delayOf(row, caller) === undefined);
  const delays = await takeWithinLimits(run, ready);
  const turns = new Map(open.map((row) => [row.id, turnOf(row, delayOf(row, caller) ?? delays.get(row.id))]));
  const going = open.filter(({ id }) => turns.get(id) === 'SEND').map(({ id }) => id);
  if (going.length > 0) await run(MARK_BUSY, [going]);
  return { turns, lost: open.filter(isLost).map(({ id }) => id) };
}

function turnOf(row: RetryStateRow, delayMs: number | undefined): RetryTurn {
  if (delayMs === undefined) return 'SEND';
  const { number, http_status: httpStatus, failure } = row;
  const last = number === null ? undefined : { number, httpStatus, failure };
  return { delayMs: Math.ceil(delayMs), last };
}

/** Undefined where the attempt goes now, as far as limits allow. */
function delayOf(row: RetryStateRow, caller: string): number | undefined {
  if (row.leased_to !== caller) return NOT_LEASED_MS;
  // Attempts that began together would otherwise ask together.
  if (row.busy_in_ms !== null && row.busy_in_ms > 0) return row.busy_in_ms + Math.random() * ASK_AGAIN_MS;
  if (row.under_way) return ASK_AGAIN_MS;
  if (row.due_in_ms > 0) return row.due_in_ms;
  if (row.slow < MAX_SLOW && row.busy < MAX_BUSY) return undefined;
  const freeInMs = Math.min(Math.max(row.free_in_ms ?? 0, ASK_AGAIN_MS), LONGEST_LEAST_WAIT_MS);
  // More wait than there will be room for: they ask one after another, over half as much time again.
  return freeInMs * (1 + Math.random() / 2);
}

const isLost = ({ under_way, busy_in_ms }: RetryStateRow) => under_way && (busy_in_ms ?? 0) <= 0;
