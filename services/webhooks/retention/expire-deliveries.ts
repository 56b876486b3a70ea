import type { Logger } from 'pino';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { isDatabaseUnavailable } from '../../platform/database/database-errors.ts';
import { counterBy } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';
import { deliveryLogFields } from '../deliveries/delivery-log-fields.ts';
import { END_FAILED_RETRIES, endDeliveries } from '../deliveries/end-deliveries.sql.ts';
import { type OrderedObjectRow, unblockDeliveries } from '../deliveries/ordered-deliveries.ts';
import { insertErrorNotices } from '../subscriptions/error-notices.sql.ts';
import type { SubscriptionError } from '../subscriptions/subscription.ts';

const expiredDeliveries = counterBy('environment', ENVIRONMENTS, {
  name: 'payments_webhook_expired_deliveries_total',
  help: 'Deliveries that ended because they were still open when the retention period of their event was over.',
});

interface OldRow extends OrderedObjectRow {
  readonly id: string;
  readonly event_id: string;
  readonly request_id: string;
  readonly ordered: boolean;
}

const BATCH_ROWS = 500;

const findOld = (name: string, which: string): Statement => ({
  name,
  text: `
select id, merchant_id, environment, subscription_id, event_id, object_id, request_id, ordered from webhooks.open_delivery
 where environment = :environment and ${which} limit ${BATCH_ROWS}`,
});

/**
 * The first statement finds nearly all by the delivery's own id, in index order; the second finds those that a resend
 * created long after their event.
 */
export const FIND_OLD = [
  findOld('find_old_deliveries', 'id < :firstKept::uuid order by id'),
  findOld(
    'find_resent_deliveries',
    'resend_id is not null and event_id < :firstKept::uuid order by event_id',
  ),
];

const EXPIRE: Statement = {
  name: 'expire_deliveries',
  text: `
with ${endDeliveries('where d.id = any (:ids::uuid[])', { status: `'EXHAUSTED'`, endedAt: 'now()' })},
${END_FAILED_RETRIES}, failing as (
  update webhooks.subscription s
     set state = 'ERROR',
         error = case when s.state = 'ERROR' then coalesce(s.error, :error::jsonb) else :error::jsonb end,
         error_at = case when s.state = 'ERROR' then coalesce(s.error_at, now()) else now() end
    from (select merchant_id, environment, subscription_id, min(request_id) as request_id from ended
           group by merchant_id, environment, subscription_id) e
   where s.merchant_id = e.merchant_id and s.environment = e.environment and s.id = e.subscription_id
     and s.state <> 'DISABLED'
  returning s.merchant_id, s.environment, s.id, s.state, old.state as was, e.request_id
), notified as (${insertErrorNotices('failing')}
)
select id from ended`,
};

/** For a delivery that cannot be stored, because the clock that made its id was wrong and it has no partition. */
const DISCARD: Statement = {
  name: 'discard_delivery',
  text: 'delete from webhooks.open_delivery where id = any (:ids::uuid[])',
};

const LOCK_TENANTS: Statement = {
  name: 'lock_tenants_of_deliveries',
  text: `
select webhooks.lock_subscriptions(t.merchant_id, t.environment)
  from (select distinct merchant_id, environment from webhooks.open_delivery where id = any (:ids::uuid[])
         order by merchant_id, environment) t`,
};

interface ExpiryDependencies {
  readonly db: CrossTenantDatabase;
  readonly logger: Logger;
}

export interface Expiry {
  readonly environment: EnvironmentName;
  readonly firstKept: string;
  /** Recorded in the subscriptions. */
  readonly error: SubscriptionError;
  /** In the time of `performance.now()`, in milliseconds. */
  readonly endBy: number;
}

/**
 * Ends the open deliveries of events with ids less than `firstKept` as EXHAUSTED, which puts their subscriptions in ERROR.
 * @returns how many deliveries it ended or discarded, and whether time ran out before it ended all of them.
 */
export async function expireDeliveries(
  deps: ExpiryDependencies,
  { environment, firstKept, error, endBy }: Expiry,
): Promise<{ readonly expired: number; readonly more: boolean }> {
  let expired = 0;
  for (const find of FIND_OLD) {
    for (;;) {
      const old = await deps.db.run<OldRow>(find, { environment, firstKept });
      if (old.length === 0) break;
      if (performance.now() > endBy) return { expired, more: true };
      const count = await expireEach(deps, old, error);
      expired += count;
      expiredDeliveries.inc({ environment }, count);
    }
  }
  return { expired, more: false };
}

/** Ends deliveries. When that fails, ends them in halves, and discards the one that cannot be stored. */
async function expireEach(
  deps: ExpiryDependencies,
  old: readonly OldRow[],
  error: SubscriptionError,
): Promise<number> {
  const { db, logger } = deps;
  try {
    const expired = await expire(db, old, error);
    for (const row of old) if (expired.has(row.id)) logger.warn(logFieldsOf(row), 'a delivery is exhausted');
    return expired.size;
  } catch (failure) {
    if (isDatabaseUnavailable(failure)) throw failure;
    if (old.length > 1) {
      const half = Math.ceil(old.length / 2);
      const first = await expireEach(deps, old.slice(0, half), error);
      return first + (await expireEach(deps, old.slice(half), error));
    }
    const [row] = old as [OldRow];
    logger.error({ ...logFieldsOf(row), err: failure }, 'an expired delivery was discarded');
    await db.run(DISCARD, { ids: [row.id] });
    if (row.ordered) await unblockDeliveries(db.run, [row]);
    return 1;
  }
}

/** The log fields of a delivery that expires. */
const logFieldsOf = (row: OldRow) => ({ ...deliveryLogFields(row), cause: 'RETENTION_PERIOD_OVER' });

/** @returns the deliveries that it ended. */
function expire(
  db: CrossTenantDatabase,
  old: readonly OldRow[],
  error: SubscriptionError,
): Promise<ReadonlySet<string>> {
  return db.transaction(async (run) => {
    const ordered = old.filter((delivery) => delivery.ordered);
    // Keeps events of their objects from being published in the meantime.
    if (ordered.length > 0) await run(LOCK_TENANTS, { ids: ordered.map(({ id }) => id) });
    await lockSubscriptionRows(run, old);
    const ended = await run<{ id: string }>(EXPIRE, {
      ids: old.map(({ id }) => id),
      error: JSON.stringify(error),
    });
    // The next check of the lane's owner unblocks those that another transaction has locked.
    await unblockDeliveries(run, ordered);
    return new Set(ended.map(({ id }) => id));
  });
}

/** In a fixed order, so that two transactions that lock the same subscriptions do not deadlock. */
const LOCK_SUBSCRIPTIONS: Statement = {
  name: 'lock_subscriptions',
  text: `
select from (
  select distinct * from unnest(:merchantIds::uuid[], :environments::text[], :subscriptionIds::uuid[]) as input (merchant_id, environment, id)
   order by id
) input
 cross join lateral (
   select from webhooks.subscription s
    where s.merchant_id = input.merchant_id and s.environment = input.environment and s.id = input.id
      for no key update
 ) s`,
};

/** Locks the subscriptions until the transaction ends. */
async function lockSubscriptionRows(run: Run, rows: readonly OldRow[]): Promise<void> {
  await run(LOCK_SUBSCRIPTIONS, {
    merchantIds: rows.map(({ merchant_id }) => merchant_id),
    environments: rows.map(({ environment }) => environment),
    subscriptionIds: rows.map(({ subscription_id }) => subscription_id),
  });
}
