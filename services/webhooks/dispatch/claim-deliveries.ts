import { NIL } from 'uuid';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { IS_LIMITED, lockWaitingBudgets, spendBudgets, TOKENS } from './attempt-limits.ts';
import { type BatchIds, type ClaimedDelivery, claimedAsJson, newBatchIds } from './claimed-delivery.ts';
import {
  BATCH_LEASE_MS,
  MAX_BUSY,
  MAX_SLOW,
  MAX_SUBSCRIPTIONS,
  MIN_SHARE,
  MOST_LOOKED_AT,
} from './dispatch-limits.ts';
import { type FanOutTerms, fanOut } from './fan-out.ts';
import { busyOf, WAITING } from './subscription-load.sql.ts';

interface Claim {
  readonly deliveries: ClaimedDelivery[];
  /** Deliveries wait for attempts of their own subscription to end. */
  readonly blocked: boolean;
  /** More events, or more subscriptions that have work, than were looked at: to be looked at at once. */
  readonly cut: boolean;
}

const nextWaiting = (after: string) =>
  `(select subscription_id from ${WAITING} and subscription_id > ${after} order by subscription_id limit 1)`;
const FIRST_WAITING = `(select subscription_id from ${WAITING} order by subscription_id limit 1)`;

/**
 * Goes round the subscriptions that have work, from after the one where the last claim began, by jumps in the index of
 * what waits. Live events go before what is sent again. Of a subscription with limits no more is taken than they
 * allow, and only where its budget is locked. What is picked is looked up by id and judged once it is locked, because
 * the planner thinks little of what waits.
 */
export const CLAIM: Statement = {
  name: 'claim_deliveries',
  text: `
with recursive ring (id, start, position) as (
  select first.id, first.id, 1
    from (select coalesce(${nextWaiting('$1::uuid')}, ${FIRST_WAITING}) as id) first
   where first.id is not null
  union all
  select next.id, ring.start, ring.position + 1
    from ring
   cross join lateral (select coalesce(${nextWaiting('ring.id')}, ${FIRST_WAITING}) as id) next
   where ring.position < ${MAX_SUBSCRIPTIONS} and next.id <> ring.start
), room as (
  select ring.id, ring.position, least(own.most - busy.total, own.tokens) as size
    from ring
   cross join lateral ${busyOf('ring.id')}
   cross join lateral (
     select coalesce(max(s.max_concurrent_attempts), ${MAX_BUSY}) as most, floor(max(${TOKENS})) as tokens,
            coalesce(bool_and(s.id = any ($6::uuid[])), true) as mine
       from webhooks.subscription s
       left join webhooks.attempt_budget b on b.subscription_id = s.id
      where s.id = ring.id and (${IS_LIMITED})
   ) own
   where busy.slow < ${MAX_SLOW} and busy.total < own.most and own.mine and coalesce(own.tokens, 1) >= 1
), candidate as materialized (
  select d.id
    from (select *, greatest(${MIN_SHARE}, least($2, ${MOST_LOOKED_AT} / count(*) over ())) as share from room) room
   cross join lateral (
     select w.id, w.resent, row_number() over (order by w.resent, w.id) as turn
       from (select id, resend_id is not null as resent
               from ${WAITING} and subscription_id = room.id and next_attempt_at <= now()
              order by (resend_id is not null), id limit least(room.size, room.share)) w
   ) d
   order by d.resent, d.turn, room.position
   limit $2
), picked as materialized (
  select d.id, d.status, d.batch_id from webhooks.open_delivery d
   where d.id = any (array(select id from candidate))
     for update skip locked
), claimed as (
  update webhooks.open_delivery d
     set batch_id = case d.environment when 'live' then $4::uuid else $5::uuid end,
         leased_to = $3, busy_since = now(), busy_until = now() + interval '${BATCH_LEASE_MS} ms'
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
       (select start from ring limit 1) as start,
       (select id from ring order by position desc limit 1) as last,
       (select count(*)::int from ring) as looked_at,
       (select count(*)::int from room) as with_room`,
};

interface ClaimRow {
  readonly deliveries: ClaimedDelivery[];
  readonly start: string | null;
  readonly last: string | null;
  readonly looked_at: number;
  readonly with_room: number;
}

/** After so many looks in a row that found nothing, those who have no room are left in peace a while. */
const LOOKS_IN_VAIN = 10;
const NO_CLAIM: Claim = { deliveries: [], blocked: false, cut: false };

interface ClaimTerms {
  /** Whom it is leased to. */
  readonly caller: string;
  readonly max: number;
  /** Of batches to claim into; into new ones without them. */
  readonly batchIds?: BatchIds | undefined;
  /** Before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: FanOutTerms['firstWaits'];
}

/** Claims what waits, in turns of its own: each claim begins one subscription later than the one before. */
export class DeliveryClaims {
  #after: string = NIL;
  /** More may wait than the last claim had room for: what is new goes behind it. */
  #full = false;
  #inVain = 0;

  /** Takes events in and claims up to `max` deliveries. */
  async claim(db: CrossTenantDatabase, terms: ClaimTerms): Promise<Claim> {
    const { caller, max, firstWaits, batchIds = newBatchIds() } = terms;
    const { claimed, waits, limited, more } = await fanOut(db, {
      ...{ caller, batchIds, firstWaits },
      max: this.#full ? 0 : max,
    });
    const last = claimed.at(-1);
    if (last) this.#after = last.subscription_id;
    const left = max - claimed.length;
    const waiting = { caller, max: left, batchIds };
    const next = waits && left > 0 ? await this.#claimWaiting(db, waiting, limited) : NO_CLAIM;
    const deliveries = [...claimed, ...next.deliveries];
    this.#full = deliveries.length >= max;
    this.#inVain = next.cut && deliveries.length === 0 ? (this.#inVain + 1) % LOOKS_IN_VAIN : 0;
    return { deliveries, blocked: next.blocked || next.cut, cut: more || this.#inVain > 0 };
  }

  #claimWaiting(db: CrossTenantDatabase, terms: WaitingTerms, limited: boolean): Promise<Claim> {
    if (!limited) return this.#claimRound(db.run, terms, []);
    return db.transaction(async (run) => {
      const budgets = await lockWaitingBudgets(run);
      const claim = await this.#claimRound(run, terms, budgets);
      await spendBudgets(run, countBegun(claim.deliveries, budgets));
      return claim;
    });
  }

  /** @param budgets limited subscriptions that may be claimed of. */
  async #claimRound(
    run: Run,
    { caller, max, batchIds }: WaitingTerms,
    budgets: readonly string[],
  ): Promise<Claim> {
    const values = [this.#after, max, caller, batchIds.live, batchIds.test, budgets];
    const [row] = await run<ClaimRow>(CLAIM, values);
    const { deliveries, start, last, looked_at, with_room } = row!;
    const cut = looked_at === MAX_SUBSCRIPTIONS;
    this.#after = (cut ? last : start) ?? NIL;
    return { deliveries, blocked: with_room < looked_at, cut };
  }
}

type WaitingTerms = Pick<FanOutTerms, 'caller' | 'max' | 'batchIds'>;

function countBegun(deliveries: readonly ClaimedDelivery[], budgets: readonly string[]): Map<string, number> {
  const begun = new Map<string, number>();
  for (const { subscription_id: id } of deliveries) {
    if (budgets.includes(id)) begun.set(id, (begun.get(id) ?? 0) + 1);
  }
  return begun;
}
