import { PROBE_INTERVAL_MS } from '../subscription.ts';
import type { Run, Statement } from './dispatch-database.ts';
import { MAX_RELEASED, MAX_SUBSCRIPTIONS } from './dispatch-limits.ts';

/**
 * Held deliveries that are due go to the batches: while their subscription is probed one every 5 s, after a success
 * many at a time. They go without a retry workflow, so its limit holds. What is paused stays.
 */
const RELEASE: Statement = {
  name: 'release_held',
  text: `
with holding as (
  select merchant_id, environment, id, probe_at,
         exists (select from webhooks.open_delivery d
                  where d.subscription_id = s.id and d.status = 'HELD') as has_held
    from webhooks.subscription s
   where holding and paused_at is null and (probe_at is null or probe_at <= now())
   order by probe_at nulls first limit ${MAX_SUBSCRIPTIONS}
     for update skip locked
), due as (
  select d.id
    from holding
   cross join lateral (
     select id from webhooks.open_delivery
      where subscription_id = holding.id and status = 'HELD'
        and (busy_until is null or busy_until < now()) and next_attempt_at <= now()
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

export async function releaseHeld(run: Run): Promise<void> {
  await run(RELEASE, []);
}
