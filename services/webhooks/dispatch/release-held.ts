import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { PROBE_INTERVAL_MS } from '../subscriptions/subscription.ts';
import { MAX_RELEASED, MAX_SUBSCRIPTIONS } from './dispatch-limits.ts';

const isHeldOf = (subscription: string) => `subscription_id = ${subscription}.id and status = 'HELD'`;
const IS_DUE = '(in_flight_until is null or in_flight_until < now()) and next_attempt_at <= now()';

/**
 * Releases held deliveries that are due to the batches: one every 5 s while their subscription is probed, many at a time
 * after a success. They have no retry workflow, so the limit of open retries holds. Paused subscriptions are skipped, and
 * those that hold nothing due; the others are chosen at random, so that none starves.
 */
const RELEASE: Statement = {
  name: 'release_held',
  text: `
with holding as (
  select merchant_id, environment, id, probe_at,
         exists (select from webhooks.open_delivery where ${isHeldOf('s')}) as has_held
    from webhooks.subscription s
   where holding and paused_at is null and (probe_at is null or probe_at <= now())
     and (exists (select from webhooks.open_delivery where ${isHeldOf('s')} and ${IS_DUE})
          or not exists (select from webhooks.open_delivery where ${isHeldOf('s')}))
   order by random() limit ${MAX_SUBSCRIPTIONS}
     for update skip locked
), due as (
  select d.id
    from holding
   cross join lateral (
     select id from webhooks.open_delivery
      where ${isHeldOf('holding')} and ${IS_DUE}
      order by next_attempt_at limit case when holding.probe_at is null then ${MAX_RELEASED} else 1 end
   ) d
), released as (
  update webhooks.open_delivery d set status = 'PENDING', batch_id = null, in_flight_since = null, in_flight_until = null
    from due where d.id = due.id and d.status = 'HELD' and (d.in_flight_until is null or d.in_flight_until < now())
  returning d.subscription_id
)
update webhooks.subscription s
   set holding = holding.has_held,
       probe_at = case
         when not holding.has_held or holding.probe_at is null then null
         when s.id in (select subscription_id from released) then now() + interval '${PROBE_INTERVAL_MS} ms'
         else holding.probe_at end
  from holding
 where s.merchant_id = holding.merchant_id and s.environment = holding.environment and s.id = holding.id`,
};

/** Releases held deliveries that are due, of subscriptions that are not paused. */
export async function releaseHeld(run: Run): Promise<void> {
  await run(RELEASE);
}
