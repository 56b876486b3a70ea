import { goesTo } from '../ordered-deliveries.ts';
import { IS_LIMITED } from './attempt-limits.ts';
import type { Run, Statement } from './dispatch-database.ts';
import { MAX_EVENTS } from './dispatch-limits.ts';
import { type LineRow, letNextOfLinesGo, lockSubscriptions } from './let-next-go.ts';

/**
 * Moves committed events from the outbox to the log and adds a delivery for each subscription that matches. The body
 * is written here, once: what is signed and sent. Disabling and pausing wait for the key share lock, or are seen by it.
 * Times are cut to milliseconds: rounded up, what is due now would wait. An event's delivery to an ordered subscription
 * is BLOCKED while an earlier one of its object is open, or in the outbox: taken by this very statement, or by
 * another at the same time.
 */
const FAN_OUT: Statement = {
  name: 'fan_out',
  text: `
with taken as (
  delete from platform.outbox_event
   where id = any (array(
     select id from platform.outbox_event order by id limit ${MAX_EVENTS} for update skip locked))
  returning *
), logged as (
  insert into webhooks.event
    (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
  select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at,
         '{"id":"' || id || '","type":' || to_json(type)
         || ',"timestamp":"' || to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
         || '","environment":"' || environment || '","requestId":' || to_json(request_id)
         || ',"sequence":' || sequence || ',"data":' || data || '}'
    from taken
), matched as (
  select t.*, s.id as subscription_id, s.ordered, s.paused_at,
         case when s.ordered then exists (
           select from webhooks.open_delivery d
            where d.ordered and d.subscription_id = s.id and d.object_id = t.object_id and d.sequence < t.sequence
         ) or exists (
           select from platform.outbox_event e
            where e.merchant_id = t.merchant_id and e.environment = t.environment
              and e.object_id = t.object_id and e.sequence < t.sequence and ${goesTo('e', 's')}
         ) end as waits
    from taken t
    join webhooks.subscription s
      on s.merchant_id = t.merchant_id and s.environment = t.environment and ${goesTo('t', 's')}
     for key share of s
), fanned_out as (
  insert into webhooks.open_delivery
    (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
     status, attempt_count, next_attempt_at)
  select merchant_id, environment, uuidv7(), subscription_id, id, type, object_id, sequence, request_id, ordered,
         case when waits then 'BLOCKED' when paused_at is not null then 'HELD' else 'PENDING' end, 0,
         date_trunc('milliseconds', now())
           + case environment when 'live' then $1::float8 else $2::float8 end * interval '1 ms'
    from matched order by id, subscription_id
  returning merchant_id, environment, subscription_id, object_id, status
)
select (select count(*)::integer from taken) as events,
       (select coalesce(json_agg(f), '[]') from fanned_out f where status = 'BLOCKED') as blocked,
       exists (select from webhooks.subscription s where ${IS_LIMITED}) as limited`,
};

interface FannedOut {
  readonly events: number;
  readonly blocked: readonly LineRow[];
  readonly limited: boolean;
}

/**
 * Turns committed events into deliveries, which wait for a batch. What another ended or added meanwhile, of the objects
 * whose deliveries are BLOCKED, is seen once their subscriptions are locked.
 * @returns `more`: it took as many as it may, so that there may be more; `limited`: there are subscriptions with limits
 *   of their own.
 */
export async function fanOut(run: Run, firstWaits: { live: number; test: number }) {
  const [fanned] = await run<FannedOut>(FAN_OUT, [firstWaits.live, firstWaits.test]);
  const { events, blocked, limited } = fanned!;
  await lockSubscriptions(run, blocked);
  await letNextOfLinesGo(run, blocked);
  return { more: events === MAX_EVENTS, limited };
}
