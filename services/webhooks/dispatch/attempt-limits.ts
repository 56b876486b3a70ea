import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { MAX_IN_FLIGHT } from './dispatch-limits.ts';

/** Whether a subscription has a limit of its own: SQL over its alias. */
export const IS_LIMITED = 's.max_concurrent_attempts is not null or s.max_attempts_per_second is not null';

/** Attempts that a rate allows now, with bursts of up to one second's worth: SQL over a subscription and its budget. */
export const TOKENS = `least(s.max_attempts_per_second, b.remaining
    + s.max_attempts_per_second * greatest(extract(epoch from now() - b.counted_at)::float8, 0))`;

const ADD_BUDGETS: Statement = {
  name: 'add_budgets',
  text: `
insert into webhooks.attempt_budget (merchant_id, environment, subscription_id, remaining, counted_at)
select s.merchant_id, s.environment, s.id, coalesce(s.max_attempts_per_second, 0), now()
  from webhooks.subscription s
 where (${IS_LIMITED}) and not exists (select from webhooks.attempt_budget b where b.subscription_id = s.id)
on conflict do nothing`,
};

const LOCK_WAITING: Statement = {
  name: 'lock_waiting_budgets',
  text: `
select b.subscription_id as id
  from webhooks.subscription s
  join webhooks.attempt_budget b on b.subscription_id = s.id
 where (${IS_LIMITED}) and exists (
   select from webhooks.open_delivery d
    where d.subscription_id = s.id and d.status = 'PENDING' and d.batch_id is null)
   for update of b skip locked`,
};

/**
 * Locks the budgets of subscriptions with limits and waiting deliveries until the transaction ends, so that no other
 * transaction starts attempts of them; later statements see what others started before. Answers the locked
 * subscriptions; skips those that another transaction has locked.
 */
export async function lockWaitingBudgets(run: Run): Promise<string[]> {
  await run(ADD_BUDGETS);
  return (await run<{ id: string }>(LOCK_WAITING)).map(({ id }) => id);
}

/** The attempts that a subscription with limits may still start. */
interface Allowance {
  readonly subscription_id: string;
  /** By the limit of concurrent attempts. */
  capacity: number;
  /** By the rate. */
  tokens: number;
  /** Attempts per second; null: unlimited. */
  readonly rate: number | null;
}

const LOCK_BUDGETS: Statement = {
  name: 'lock_budgets',
  text: `
select from webhooks.attempt_budget b
 where b.subscription_id in (select subscription_id from webhooks.open_delivery where id = any (:ids::uuid[]))
 order by b.subscription_id
   for update of b`,
};

const READ_ALLOWANCES: Statement = {
  name: 'read_allowances',
  text: `
select s.id as subscription_id, coalesce(s.max_concurrent_attempts, ${MAX_IN_FLIGHT}) - in_flight.total as capacity,
       coalesce(${TOKENS}, 'infinity') as tokens, s.max_attempts_per_second as rate
  from webhooks.attempt_budget b
  join webhooks.subscription s
    on s.merchant_id = b.merchant_id and s.environment = b.environment and s.id = b.subscription_id
 cross join lateral (
   select count(*)::int as total from webhooks.open_delivery d
    where d.subscription_id = s.id and d.in_flight_since is not null and d.in_flight_until > now()
 ) in_flight
 where (${IS_LIMITED})
   and b.subscription_id in (select subscription_id from webhooks.open_delivery where id = any (:ids::uuid[]))`,
};

const SPEND: Statement = {
  name: 'spend_budgets',
  text: `
update webhooks.attempt_budget b
   set remaining = ${TOKENS} - spent.count, counted_at = greatest(b.counted_at, now())
  from webhooks.subscription s, unnest(:subscriptionIds::uuid[], :counts::int[]) as spent (subscription_id, count)
 where b.subscription_id = spent.subscription_id
   and s.merchant_id = b.merchant_id and s.environment = b.environment and s.id = b.subscription_id
   and s.max_attempts_per_second is not null`,
};

const RECHECK_MS = 1_000;

/**
 * Claims retries of subscriptions with limits as far as the limits allow. Answers for each of the others how long it has
 * to wait, in milliseconds, by delivery. Until the transaction ends, no other starts attempts of these subscriptions.
 */
export async function claimWithinLimits(
  run: Run,
  retries: readonly { readonly id: string; readonly subscription_id: string }[],
): Promise<Map<string, number>> {
  const delays = new Map<string, number>();
  if (retries.length === 0) return delays;
  const ids = retries.map(({ id }) => id);
  await run(ADD_BUDGETS);
  await run(LOCK_BUDGETS, { ids });
  const rows = await run<Allowance>(READ_ALLOWANCES, { ids });
  const allowances = new Map(rows.map((row) => [row.subscription_id, row]));
  const started = new Map<string, number>();
  for (const { id, subscription_id } of retries) {
    const allowance = allowances.get(subscription_id);
    const delayMs = allowance && consume(allowance);
    if (delayMs !== undefined) delays.set(id, delayMs);
    else started.set(subscription_id, (started.get(subscription_id) ?? 0) + 1);
  }
  await spendBudgets(run, started);
  return delays;
}

/** Undefined if the limits allow the attempt; those that wait for the rate wait one after another. */
function consume(allowance: Allowance): number | undefined {
  if (allowance.capacity < 1) return RECHECK_MS * (1 + Math.random());
  allowance.tokens -= 1;
  if (allowance.tokens < 0) return (1_000 * -allowance.tokens) / (allowance.rate ?? 1);
  allowance.capacity -= 1;
  return undefined;
}

/** Deducts started attempts from the budgets: their number by subscription. */
export async function spendBudgets(run: Run, started: ReadonlyMap<string, number>): Promise<void> {
  if (started.size === 0) return;
  await run(SPEND, { subscriptionIds: [...started.keys()], counts: [...started.values()] });
}
