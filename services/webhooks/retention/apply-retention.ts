import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Logger } from 'pino';
import type { ApplyRetentionResponseSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { tryAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { Database } from '../../platform/database/database.ts';
import { aborted } from '../../platform/errors.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { dropPartitions } from './drop-partitions.ts';
import { expireDeliveries } from './expire-deliveries.ts';
import type { PartitionsAhead } from './partitions.ts';

export interface RetentionDependencies {
  readonly database: Database;
  readonly db: CrossTenantDatabase;
  readonly partitions: PartitionsAhead;
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
/** The transaction that holds the lock is idle while other transactions do the work. */
const IDLES = "set local idle_in_transaction_session_timeout = '1min'";
const DAY_MS = 86_400_000;

/**
 * The first id of the oldest partition to keep. Events that wait for dispatch are kept, however old they are: a system
 * that was down for longer than the retention period delivers them before they are dropped.
 */
const FIRST_KEPT: Statement = {
  name: 'first_kept',
  text: `
select webhooks.first_id(date_bin(
         case :environment when 'live' then interval '7 days' else interval '1 day' end,
         least(now() - :cacheMs::float8 * interval '1 ms',
               (select uuid_extract_timestamp(id) from platform.outbox_event order by id limit 1)),
         timestamptz '2001-01-01 00:00:00+00')) as id`,
};

/**
 * Creates the next partitions, ends open deliveries of events past the retention period and drops expired partitions:
 * as much as it can in half a minute. ABORTED (RETENTION_RUNNING) while another call is running.
 */
export async function applyRetention(
  deps: RetentionDependencies,
): Promise<MessageInitShape<typeof ApplyRetentionResponseSchema>> {
  const createdPartitions = await deps.partitions.make();
  const endBy = performance.now() + CALL_BUDGET_MS;
  const applied = await deps.database.transaction(async (em) => {
    if (!(await tryAdvisoryLock(em, 'webhook retention'))) {
      throw aborted('RETENTION_RUNNING', 'another call is applying the retention');
    }
    await em.execute(IDLES);
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
  { database, db, retention }: RetentionDependencies,
  environment: EnvironmentName,
  endBy: number,
): Promise<Applied> {
  const [kept] = await db.run<{ id: string }>(FIRST_KEPT, { environment, cacheMs: retention[environment] });
  const retentionDays = Math.floor(retention[environment] / DAY_MS);
  const error = { cause: 'DELIVERY_EXPIRED' as const, retentionDays };
  const expire = () => expireDeliveries(db, environment, kept!.id, error, endBy);
  const { expired, more } = await expire();
  // Reports of deliveries that are still open are written to the partitions of their ids: keep those partitions.
  if (more) return { expired, more, dropped: [], waiting: [] };
  const gone = await dropPartitions(database, environment, kept!.id, endBy);
  // Deliveries that a resend has created in the meantime.
  const late = await expire();
  return { ...gone, expired: expired + late.expired, more: gone.more || late.more };
}
