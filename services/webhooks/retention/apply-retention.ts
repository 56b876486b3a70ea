import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Logger } from 'pino';
import type { ApplyRetentionResponseSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { tryAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  ALLOW_IDLE_TRANSACTION,
  dropPartitions,
  PARTITION_STATE,
} from '../../platform/database/drop-partitions.ts';
import { DAY_MS } from '../../platform/durations.ts';
import { aborted } from '../../platform/errors.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { SENDABLE, waitingSubscriptions } from '../lanes/read-deliveries.sql.ts';
import { expireDeliveries } from './expire-deliveries.ts';
import { createPartitions } from './partitions.ts';

export interface RetentionDependencies {
  readonly database: Database;
  readonly db: CrossTenantDatabase;
  /** The minimum time for which events are kept, in milliseconds. */
  readonly retention: Readonly<Record<EnvironmentName, number>>;
  readonly logger: Logger;
}

interface Applied {
  readonly expired: number;
  readonly dropped: readonly string[];
  readonly waiting: readonly string[];
  readonly more: boolean;
}

/** A call has a deadline of a minute; it starts no further step after this time. */
const CALL_BUDGET_MS = 25_000;

/**
 * The first id of the oldest partition to keep. Deliveries that were never attempted are kept for as long again: a system
 * that was down for longer than the retention period makes them before they are dropped. The oldest of each subscription
 * that is waiting are found by index jumps.
 */
export const FIRST_KEPT: Statement = {
  name: 'first_kept',
  text: `
with recursive ${waitingSubscriptions('generate_series(0, 63)')}, never_attempted as (
  select min(uuid_extract_timestamp(first.id)) as since
    from waiting
   cross join lateral (
     select d.id, d.environment from webhooks.open_delivery d
      where d.lane = waiting.lane and d.subscription_id = waiting.subscription_id and ${SENDABLE}
        and d.status = 'PENDING' and d.attempt_count = 0
      order by (d.resend_id is not null), d.id limit 1) first
   where first.environment = :environment
)
select platform.first_id(date_bin(
         case :environment when 'live' then interval '7 days' else interval '1 day' end,
         least(now() - kept.period, greatest(now() - 2 * kept.period, coalesce(never_attempted.since, now()))),
         timestamptz '2001-01-01 00:00:00+00')) as id
  from (select :retentionMs::float8 * interval '1 ms' as period) kept cross join never_attempted`,
};

/**
 * The partitions that begin before `firstKept`, by the first day in their names: the oldest first, deliveries before their
 * attempts.
 */
const FIND_DUE = `
select c.relname as name, name_parts[1] as parent, ${PARTITION_STATE} as state
  from pg_class c
 cross join lateral regexp_match(c.relname, '^((ended_delivery|attempt|event)_(live|test))_(\\d{8})$') as name_parts
  left join pg_inherits i on i.inhrelid = c.oid
 where c.relnamespace = 'webhooks'::regnamespace and c.relkind = 'r' and name_parts[3] = :environment
   and platform.first_id(to_date(name_parts[4], 'YYYYMMDD')::timestamp at time zone 'UTC') < :firstKept::uuid
 order by i.inhdetachpending desc nulls first, name_parts[4],
          array_position(array['ended_delivery', 'attempt', 'event'], name_parts[2])`;

/**
 * Creates the next partitions, ends open deliveries of events past the retention period and drops expired partitions:
 * as much as it can in half a minute. ABORTED (RETENTION_RUNNING) while another call is running.
 */
export async function applyRetention(
  deps: RetentionDependencies,
): Promise<MessageInitShape<typeof ApplyRetentionResponseSchema>> {
  const createdPartitions = await deps.database.transaction(createPartitions);
  const endBy = performance.now() + CALL_BUDGET_MS;
  const applied = await deps.database.transaction(async (em) => {
    if (!(await tryAdvisoryLock(em, 'webhook retention'))) {
      throw aborted('RETENTION_RUNNING', 'another call is applying the retention');
    }
    // This transaction holds the lock and is idle while other connections do the work.
    await em.execute(ALLOW_IDLE_TRANSACTION);
    return [await applyTo(deps, 'live', endBy), await applyTo(deps, 'test', endBy)];
  });
  const droppedPartitions = applied.flatMap(({ dropped }) => dropped);
  const waitingPartitions = applied.flatMap(({ waiting }) => waiting);
  const expired = applied.reduce((sum, one) => sum + one.expired, 0);
  const more = applied.some((one) => one.more);
  const done = { createdPartitions, droppedPartitions, waitingPartitions, expired, more };
  if (droppedPartitions.length + waitingPartitions.length + expired > 0) {
    deps.logger.info(done, 'applied the retention period of webhooks');
  }
  return { ...done, expiredDeliveries: BigInt(expired) };
}

async function applyTo(
  deps: RetentionDependencies,
  environment: EnvironmentName,
  endBy: number,
): Promise<Applied> {
  const { database, db, retention } = deps;
  const [kept] = await db.run<{ id: string }>(FIRST_KEPT, {
    environment,
    retentionMs: retention[environment],
  });
  const firstKept = kept!.id;
  const retentionDays = Math.floor(retention[environment] / DAY_MS);
  const error = { cause: 'DELIVERY_EXPIRED' as const, retentionDays };
  const expire = () => expireDeliveries(deps, { environment, firstKept, error, endBy });
  const { expired, more } = await expire();
  // Reports of deliveries that are still open are written to the partitions of their ids: keep those partitions.
  if (more) return { expired, more, dropped: [], waiting: [] };
  const due = { schema: 'webhooks', sql: FIND_DUE, parameters: { environment, firstKept } };
  const gone = await dropPartitions(database, due, endBy);
  // Deliveries that a resend has created in the meantime.
  const late = await expire();
  return { ...gone, expired: expired + late.expired, more: gone.more || late.more };
}
