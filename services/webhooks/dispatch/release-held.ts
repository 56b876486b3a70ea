import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { PROBE_INTERVAL_MS } from '../subscriptions/subscription.ts';
import { MAX_RELEASED, MAX_SUBSCRIPTIONS } from './dispatch-limits.ts';

const isHeldOf = (subscription: string) => `subscription_id = ${subscription}.id and status = 'HELD'`;
const IS_DUE = '(busy_until is null or busy_until < now()) and next_attempt_at <= now()';

/**
 * Held deliveries that are due go to the batches: while their subscription is probed one every 5 s, after a success
 * many at a time. They go without a retry workflow, so its limit holds. What is paused stays. Subscriptions that hold
 * nothing due are passed over, and those looked at are drawn by lot, so that however many there are none waits for
 * ever.
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
  update webhooks.open_delivery d set status = 'PENDING', batch_id = null, busy_since = null, busy_until = null
    from due where d.id = due.id and d.status = 'HELD' and (d.busy_until is null or d.busy_until < now())
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

/** Releases what is held and due, of subscriptions that are not paused. */
export async function releaseHeld(run: Run): Promise<void> {
  await run(RELEASE, []);
}
