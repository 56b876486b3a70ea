import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import type { DeliveryStatusName } from '../deliveries/delivery.ts';
import type { RetryRow } from './requeue-expired.ts';

/** An open delivery with what its attempt needs; none if its subscription is DISABLED. */
export interface OpenRow extends RetryRow {
  readonly event_id: string;
  readonly status: DeliveryStatusName;
  readonly batch_id: string | null;
  readonly leased_to: string | null;
  readonly attempt_count: number;
  readonly resend_id: string | null;
  readonly url: string;
  readonly generation: bigint;
  readonly body: string;
  /** The secrets that sign, the current one first; `sealed` is base64. */
  readonly secrets: readonly { readonly key_id: number; readonly sealed: string }[];
}

/** Lateral subqueries with limits make the planner look up each row by index, whatever its statistics say. */
export const READ_OPEN: Statement = {
  name: 'read_open',
  text: `
select d.id, d.merchant_id, d.environment, d.subscription_id, d.event_id, d.status, d.batch_id, d.leased_to,
       d.attempt_count, d.resend_id, d.event_type, d.request_id, s.url, s.generation, e.body, k.secrets
  from unnest(:ids::uuid[]) as asked (id)
 cross join lateral (select * from webhooks.open_delivery where id = asked.id limit 1) d
 cross join lateral (
   select url, generation from webhooks.subscription
    where merchant_id = d.merchant_id and environment = d.environment and id = d.subscription_id
      and state <> 'DISABLED'
    limit 1
 ) s
 cross join lateral (
   select body from webhooks.event
    where merchant_id = d.merchant_id and environment = d.environment and type = d.event_type and id = d.event_id
    limit 1
 ) e
 cross join lateral (
   select coalesce(json_agg(json_build_object('key_id', key_id, 'sealed', encode(sealed, 'base64'))
                            order by expires_at desc nulls first), '[]') as secrets
     from webhooks.signing_secret
    where merchant_id = d.merchant_id and environment = d.environment and subscription_id = d.subscription_id
      and (expires_at is null or expires_at > now())
 ) k`,
};

export interface EndedRow {
  readonly id: string;
  readonly status: DeliveryStatusName;
}

/** The status of deliveries that have ended. */
export const READ_ENDED: Statement = {
  name: 'read_ended',
  text: `
select d.id, d.status
  from unnest(:ids::uuid[]) as asked (id)
 cross join lateral (select id, status from webhooks.ended_delivery where id = asked.id limit 1) d`,
};
