import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { Tenant } from '../../platform/tenant.ts';

/** How the attempts of an hour ended. */
export interface DeliveryHourRow {
  readonly starts_at: Timestamp;
  readonly delivered: bigint;
  readonly failed: bigint;
}

const db = queryBuilder<Record<never, never>>();

/** The hours of the last day, oldest first. Reads the slots of one merchant, which are kept for a day. */
export const selectDeliveryHours = prepareRead<Tenant, DeliveryHourRow>((parameters) =>
  sql<DeliveryHourRow>`
with present as (select date_trunc('hour', now(), 'UTC') as hour),
counted as (
  select date_trunc('hour', e.starts_at, 'UTC') as hour, sum(e.succeeded)::bigint as delivered, sum(e.failed)::bigint as failed
    from webhooks.endpoint_slot e
   where e.merchant_id = ${parameters('merchantId')} and e.environment = ${parameters('environment')}
   group by 1
)
select hours.hour as starts_at, coalesce(counted.delivered, 0) as delivered, coalesce(counted.failed, 0) as failed
  from present
 cross join generate_series(present.hour - interval '23 hours', present.hour, interval '1 hour') as hours (hour)
  left join counted on counted.hour = hours.hour
 order by hours.hour`.compile(db),
);
