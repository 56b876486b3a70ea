import { NIL } from 'uuid';
import { BATCH_LEASE_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { IS_LIMITED, lockWaitingBudgets, spendBudgets, TOKENS } from './attempt-limits.ts';
import { type BatchIds, type ClaimedDelivery, claimedAsJson, newBatchIds } from './claimed-delivery.ts';
import { MAX_CANDIDATES, MAX_IN_FLIGHT, MAX_SLOW, MAX_SUBSCRIPTIONS, MIN_SHARE } from './dispatch-limits.ts';
import { type FanOutTerms, fanOut } from './fan-out.ts';
import { inFlightOf, WAITING } from './subscription-load.sql.ts';

interface Claim {
  readonly deliveries: ClaimedDelivery[];
  /** Deliveries wait for attempts of their own subscription to end. */
  readonly blocked: boolean;
  /** There may be more events, or more subscriptions with work, than were visited: poll again at once. */
  readonly incomplete: boolean;
}

const nextWaiting = (after: string) =>
  `(select subscription_id from ${WAITING} and subscription_id > ${after} order by subscription_id limit 1)`;
const FIRST_WAITING = `(select subscription_id from ${WAITING} order by subscription_id limit 1)`;

/**
 * Visits the subscriptions with waiting deliveries round robin, starting after the one where the last claim started, by
 * index jumps. Live events go before resent ones. A subscription with limits gets no more than they allow, and only if
 * its budget is locked. Picked deliveries are looked up by id and checked once they are locked, because the planner
 * underestimates how many wait.
 */
export const CLAIM: Statement = {
  name: 'claim_deliveries',
  text: `
with recursive round_robin (id, start, position) as (
  select first.id, first.id, 1
    from (select coalesce(${nextWaiting(':after::uuid')}, ${FIRST_WAITING}) as id) first
   where first.id is not null
  union all
  select next.id, round_robin.start, round_robin.position + 1
    from round_robin
   cross join lateral (select coalesce(${nextWaiting('round_robin.id')}, ${FIRST_WAITING}) as id) next
   where round_robin.position < ${MAX_SUBSCRIPTIONS} and next.id <> round_robin.start
), capacity as (
  select round_robin.id, round_robin.position, least(own.most - in_flight.total, own.tokens) as size
    from round_robin
   cross join lateral ${inFlightOf('round_robin.id')}
   cross join lateral (
     select coalesce(max(s.max_concurrent_attempts), ${MAX_IN_FLIGHT}) as most, floor(max(${TOKENS})) as tokens,
            coalesce(bool_and(s.id = any (:budgets::uuid[])), true) as mine
       from webhooks.subscription s
       left join webhooks.attempt_budget b on b.subscription_id = s.id
      where s.id = round_robin.id and (${IS_LIMITED})
   ) own
   where in_flight.slow < ${MAX_SLOW} and in_flight.total < own.most and own.mine and coalesce(own.tokens, 1) >= 1
), candidate as materialized (
  select d.id
    from (select *, greatest(${MIN_SHARE}, least(:max, ${MAX_CANDIDATES} / count(*) over ())) as share from capacity) capacity
   cross join lateral (
     select w.id, w.resent, row_number() over (order by w.resent, w.id) as rank
       from (select id, resend_id is not null as resent
               from ${WAITING} and subscription_id = capacity.id and next_attempt_at <= now()
              order by (resend_id is not null), id limit least(capacity.size, capacity.share)) w
   ) d
   order by d.resent, d.rank, capacity.position
   limit :max
), picked as materialized (
  select d.id, d.status, d.batch_id from webhooks.open_delivery d
   where d.id = any (array(select id from candidate))
     for update skip locked
), claimed as (
  update webhooks.open_delivery d
     set batch_id = case d.environment when 'live' then :liveBatchId::uuid else :testBatchId::uuid end,
         leased_to = :caller, in_flight_since = now(), in_flight_until = now() + interval '${BATCH_LEASE_MS} ms'
    from picked
   where d.id = picked.id and picked.status = 'PENDING' and picked.batch_id is null
  returning d.id, d.batch_id, d.merchant_id, d.environment, d.subscription_id, d.event_type, d.request_id
), stored as (
  insert into webhooks.batch as batch (id, leased_until, delivery_ids)
  select batch_id, now() + interval '${BATCH_LEASE_MS} ms', array_agg(id order by id)
    from claimed group by batch_id
  on conflict (id) do update set delivery_ids = batch.delivery_ids || excluded.delivery_ids
)
select ${claimedAsJson('claimed')} as deliveries,
       (select start from round_robin limit 1) as start,
       (select id from round_robin order by position desc limit 1) as last,
       (select count(*)::int from round_robin) as visited,
       (select count(*)::int from capacity) as with_capacity`,
};

interface ClaimRow {
  readonly deliveries: ClaimedDelivery[];
  readonly start: string | null;
  readonly last: string | null;
  readonly visited: number;
  readonly with_capacity: number;
}

/** After so many polls in a row that claimed nothing, the next poll waits: all visited subscriptions are at capacity. */
const MAX_EMPTY_POLLS = 10;
const NO_CLAIM: Claim = { deliveries: [], blocked: false, incomplete: false };

interface ClaimTerms {
  /** The caller that the deliveries are leased to. */
  readonly caller: string;
  readonly max: number;
  /** The batches to claim into; default: new ones. */
  readonly batchIds?: BatchIds | undefined;
  /** The wait before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: FanOutTerms['firstWaits'];
}

/** Claims waiting deliveries round robin: each claim starts one subscription later than the one before. */
export class DeliveryClaims {
  #after: string = NIL;
  /** The last claim reached its maximum, so more may wait: new deliveries queue behind them. */
  #full = false;
  #emptyPolls = 0;

  /** Fans events out and claims up to `max` deliveries. */
  async claim(db: CrossTenantDatabase, terms: ClaimTerms): Promise<Claim> {
    const { caller, max, firstWaits, batchIds = newBatchIds() } = terms;
    const { claimed, anyWaiting, anyLimited, moreEvents } = await fanOut(db, {
      caller,
      batchIds,
      firstWaits,
      max: this.#full ? 0 : max,
    });
    const last = claimed.at(-1);
    if (last) this.#after = last.subscription_id;
    const waiting = { caller, max: max - claimed.length, batchIds };
    const hasMore = anyWaiting && waiting.max > 0;
    const next = hasMore ? await this.#claimWaiting(db, waiting, anyLimited) : NO_CLAIM;
    const deliveries = [...claimed, ...next.deliveries];
    this.#full = deliveries.length >= max;
    this.#emptyPolls =
      next.incomplete && deliveries.length === 0 ? (this.#emptyPolls + 1) % MAX_EMPTY_POLLS : 0;
    return {
      deliveries,
      blocked: next.blocked || next.incomplete,
      incomplete: moreEvents || this.#emptyPolls > 0,
    };
  }

  #claimWaiting(db: CrossTenantDatabase, terms: WaitingTerms, anyLimited: boolean): Promise<Claim> {
    if (!anyLimited) return this.#claimOnce(db.run, terms, []);
    return db.transaction(async (run) => {
      const budgets = await lockWaitingBudgets(run);
      const claim = await this.#claimOnce(run, terms, budgets);
      await spendBudgets(run, countClaimed(claim.deliveries, budgets));
      return claim;
    });
  }

  /** @param budgets subscriptions with limits whose budgets are locked. */
  async #claimOnce(
    run: Run,
    { caller, max, batchIds }: WaitingTerms,
    budgets: readonly string[],
  ): Promise<Claim> {
    const [row] = await run<ClaimRow>(CLAIM, {
      after: this.#after,
      max,
      caller,
      liveBatchId: batchIds.live,
      testBatchId: batchIds.test,
      budgets,
    });
    const { deliveries, start, last, visited, with_capacity } = row!;
    const incomplete = visited === MAX_SUBSCRIPTIONS;
    this.#after = (incomplete ? last : start) ?? NIL;
    return { deliveries, blocked: with_capacity < visited, incomplete };
  }
}

type WaitingTerms = Pick<FanOutTerms, 'caller' | 'max' | 'batchIds'>;

function countClaimed(
  deliveries: readonly ClaimedDelivery[],
  budgets: readonly string[],
): Map<string, number> {
  const claimed = new Map<string, number>();
  for (const { subscription_id: id } of deliveries) {
    if (budgets.includes(id)) claimed.set(id, (claimed.get(id) ?? 0) + 1);
  }
  return claimed;
}
