import { PING_TYPE } from '../ping.event.ts';
import type { Run, Statement } from './dispatch-database.ts';
import { MAX_EVENTS } from './dispatch-limits.ts';

/**
 * Moves committed events from the outbox to the log and adds a delivery for each subscription that matches. The body
 * is written here, once: what is signed and sent. Disabling waits for the key share lock, or is seen by it, so no
 * delivery is added to a disabled subscription. Times are cut to milliseconds: rounded up, what is due now would wait.
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
), fanned_out as (
  insert into webhooks.open_delivery
    (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
     status, attempt_count, next_attempt_at)
  select t.merchant_id, t.environment, uuidv7(), s.id, t.id, t.type, t.object_id, t.sequence, t.request_id, false,
         'PENDING', 0,
         date_trunc('milliseconds', now()) + case t.environment when 'live' then $1::float8 else $2::float8 end * interval '1 ms'
    from taken t
    join webhooks.subscription s
      on s.merchant_id = t.merchant_id and s.environment = t.environment and s.state <> 'DISABLED'
     and case when t.type = '${PING_TYPE}' then s.id::text = t.object_id
              else t.type = any (s.event_types) and s.enabled_at <= t.occurred_at end
   order by t.id, s.id
     for key share of s
)
select count(*)::integer as events from taken`,
};

/**
 * Turns committed events into deliveries, which wait for a batch.
 * @returns whether it took as many as it may, so that there may be more.
 */
export async function fanOut(run: Run, firstWaits: { live: number; test: number }): Promise<boolean> {
  const [taken] = await run<{ events: number }>(FAN_OUT, [firstWaits.live, firstWaits.test]);
  return taken?.events === MAX_EVENTS;
}
