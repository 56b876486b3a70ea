import { v7 as uuidv7 } from 'uuid';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { IS_LIMITED, lockWaitingBudgets, spendBudgets, TOKENS } from './attempt-limits.ts';
import type { Run, Statement } from './dispatch-database.ts';
import {
  BATCH_LEASE_MS,
  FEW,
  MAX_BUSY,
  MAX_SUBSCRIPTIONS,
  SEVERAL_SLOW,
  SLOW_AFTER_MS,
} from './dispatch-limits.ts';

/** A delivery that a batch has claimed. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly batch_id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly event_type: string;
  readonly request_id: string;
}

interface Claim {
  readonly deliveries: ClaimedDelivery[];
  /** Deliveries wait for attempts of their own subscription to end. */
  readonly blocked: boolean;
  /** More subscriptions have work than were looked at. */
  readonly cut: boolean;
}

const WAITING = `webhooks.open_delivery where status = 'PENDING' and batch_id is null`;
const nextWaiting = (after: string) =>
  `(select subscription_id from ${WAITING} and subscription_id > ${after} order by subscription_id limit 1)`;
const FIRST_WAITING = `(select subscription_id from ${WAITING} order by subscription_id limit 1)`;

/**
 * Goes round the subscriptions that have work, from after the one where the last claim began, by jumps in the index
 * of what waits. Those with attempts in trouble fill a batch of their own: a batch ends with its slowest attempt.
 * Live events go before what is sent again. Of a subscription with limits no more is taken than they allow, and only
 * where its budget is locked. What is picked is looked up by id and judged once it is locked, because the planner thinks little of what waits.
 */
const CLAIM: Statement = {
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
  select ring.id, ring.position, least(own.most - busy.total, own.tokens, share.size) as size,
         exists (select from webhooks.open_delivery t where t.subscription_id = ring.id
                    and t.status in ('RETRYING', 'HELD')) as troubled
    from ring
   cross join (select greatest(${FEW}, ceil($2::numeric / greatest(count(*), 1)))::bigint as size from ring) share
   cross join lateral (
     select count(*) as total,
            count(*) filter (where busy_since < now() - interval '${SLOW_AFTER_MS} ms') as slow
       from webhooks.open_delivery b
      where b.subscription_id = ring.id and b.busy_since is not null and b.busy_until > now()
   ) busy
   cross join lateral (
     select coalesce(max(s.max_concurrent_attempts), ${MAX_BUSY}) as most, floor(max(${TOKENS})) as tokens,
            coalesce(bool_and(s.id = any ($8::uuid[])), true) as mine
       from webhooks.subscription s
       left join webhooks.attempt_budget b on b.subscription_id = s.id
      where s.id = ring.id and (${IS_LIMITED})
   ) own
   where busy.slow < ${SEVERAL_SLOW} and busy.total < own.most and own.mine and coalesce(own.tokens, 1) >= 1
), candidate as materialized (
  select d.id, room.troubled
    from room
   cross join lateral (
     select w.id, w.resent, row_number() over (order by w.resent, w.id) as turn
       from (select id, resend_id is not null as resent
               from ${WAITING} and subscription_id = room.id and next_attempt_at <= now()
              order by (resend_id is not null), id limit room.size) w
   ) d
   order by d.resent, d.turn, room.position
   limit $2
), picked as materialized (
  select d.id, d.status, d.batch_id from webhooks.open_delivery d
   where d.id = any (array(select id from candidate))
     for update skip locked
), claimed as (
  update webhooks.open_delivery d
     set batch_id = case when d.environment = 'live' and c.troubled then $4::uuid
                         when d.environment = 'live' then $5::uuid
                         when c.troubled then $6::uuid else $7::uuid end,
         leased_to = $3, busy_since = now(), busy_until = now() + interval '${BATCH_LEASE_MS} ms'
    from picked join candidate c on c.id = picked.id
   where d.id = picked.id and picked.status = 'PENDING' and picked.batch_id is null
  returning d.id, d.batch_id, d.merchant_id, d.environment, d.subscription_id, d.event_type, d.request_id
), stored as (
  insert into webhooks.batch (id, environment, leased_until, delivery_ids)
  select batch_id, environment, now() + interval '${BATCH_LEASE_MS} ms', array_agg(id order by id)
    from claimed group by batch_id, environment
)
select (select coalesce(json_agg(json_build_object('id', c.id, 'batch_id', c.batch_id, 'merchant_id', c.merchant_id,
               'environment', c.environment, 'subscription_id', c.subscription_id, 'event_type', c.event_type,
               'request_id', c.request_id) order by c.id), '[]')
          from claimed c) as deliveries,
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

const NIL = '00000000-0000-0000-0000-000000000000';

/** Claims what waits, in turns of its own: each claim begins one subscription later than the one before. */
export class DeliveryClaims {
  #after = NIL;

  /**
   * Claims up to `max` deliveries into new batches, leased to the caller.
   * @param limited whether there are subscriptions with limits of their own.
   */
  async claim(run: Run, caller: string, max: number, limited: boolean): Promise<Claim> {
    const budgets = limited ? await lockWaitingBudgets(run) : [];
    const batchIds = Array.from({ length: 4 }, () => uuidv7());
    const [row] = await run<ClaimRow>(CLAIM, [this.#after, max, caller, ...batchIds, budgets]);
    const { deliveries, start, last, looked_at, with_room } = row!;
    await spendBudgets(run, countBegun(deliveries, budgets));
    const cut = looked_at === MAX_SUBSCRIPTIONS;
    this.#after = (cut ? last : start) ?? NIL;
    return { deliveries, blocked: with_room < looked_at, cut };
  }
}

function countBegun(deliveries: readonly ClaimedDelivery[], budgets: readonly string[]): Map<string, number> {
  const begun = new Map<string, number>();
  for (const { subscription_id: id } of deliveries) {
    if (budgets.includes(id)) begun.set(id, (begun.get(id) ?? 0) + 1);
  }
  return begun;
}
