import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { Tenant } from '../../platform/tenant.ts';
import type { AttemptFailureName } from '../deliveries/delivery.ts';

/** How the recent attempts of a subscription ended. */
export interface EndpointHealthRow {
  readonly id: string;
  readonly last_success_at: Timestamp | null;
  readonly failing_since: Timestamp | null;
  readonly http_status: number | null;
  readonly failure: AttemptFailureName | null;
  readonly succeeded: number;
  readonly failed: number;
  /** Counts by class of latency; null unless requested, and without attempts. */
  readonly latencies: readonly number[] | null;
}

type HealthKey = Tenant & { readonly ids: readonly string[] };

const db = queryBuilder<Record<never, never>>();

/** At most twelve slots of each subscription are read. */
const SLOTS = sql`webhooks.endpoint_slot e
   where e.merchant_id = s.merchant_id and e.environment = s.environment and e.subscription_id = s.id
     and e.generation = s.generation and e.starts_at > now() - interval '1 hour'`;

const LATENCIES = sql`(
  select array_agg(count order by place)
    from (select l.place, sum(l.count)::int as count
            from (select e.latencies from ${SLOTS}) slot
           cross join unnest(slot.latencies) with ordinality as l (count, place)
           group by l.place) classes)`;

const health = (parameters: ReadParameters<HealthKey>, latencies: typeof LATENCIES) =>
  sql<EndpointHealthRow>`
select s.id, h.last_success_at, h.failing_since, h.http_status, h.failure, counts.succeeded, counts.failed,
       ${latencies} as latencies
  from webhooks.subscription s
  join webhooks.endpoint_health h
    on h.merchant_id = s.merchant_id and h.environment = s.environment and h.subscription_id = s.id
   and h.generation = s.generation
 cross join lateral (
   select coalesce(sum(e.succeeded), 0)::int as succeeded, coalesce(sum(e.failed), 0)::int as failed from ${SLOTS}
 ) counts
 where s.merchant_id = ${parameters('merchantId')} and s.environment = ${parameters('environment')}
   and s.id = any (${parameters('ids')}::uuid[]) and s.state <> 'DISABLED'`.compile(db);

/** The health of those subscriptions that have been sent something. */
export const selectEndpointHealths = prepareRead<HealthKey, EndpointHealthRow>((parameters) =>
  health(parameters, sql`null::int[]`),
);

/** The same, with the latencies of their responses. */
export const selectEndpointLatencies = prepareRead<HealthKey, EndpointHealthRow>((parameters) =>
  health(parameters, LATENCIES),
);
