import { Counter } from 'prom-client';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { metrics } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';
import { endDeliveries } from '../deliveries/end-deliveries.ts';
import {
  lockSubscriptions,
  type OrderedObjectRow,
  unblockDeliveries,
} from '../dispatch/unblock-deliveries.ts';
import { insertErrorNotices } from '../subscriptions/error-notices.sql.ts';
import type { SubscriptionError } from '../subscriptions/subscription.ts';

const expiredDeliveries = new Counter({
  name: 'payments_webhook_expired_deliveries_total',
  help: 'Deliveries that ended because they were still open when the retention period of their event was over.',
  labelNames: ['environment'],
  registers: [metrics],
});
// Starts each series at zero, so that the first expired delivery counts as an increase.
for (const environment of ENVIRONMENTS) expiredDeliveries.inc({ environment }, 0);

interface OldRow extends OrderedObjectRow {
  readonly id: string;
  readonly ordered: boolean;
}

const BATCH_ROWS = 500;

const findOld = (name: string, which: string): Statement => ({
  name,
  text: `
select id, merchant_id, environment, subscription_id, object_id, ordered from webhooks.open_delivery
 where environment = :environment and ${which} limit ${BATCH_ROWS}`,
});

/**
 * The first statement finds nearly all by the delivery's own id, in index order; the second finds deliveries that were
 * created long after their event, for example by a resend.
 */
const FIND_OLD = [
  findOld('find_old_deliveries', 'id < :firstKept::uuid order by id'),
  findOld('find_deliveries_of_old_events', 'event_id < :firstKept::uuid'),
];

const EXPIRE: Statement = {
  name: 'expire_deliveries',
  text: `
with ${endDeliveries('where d.id = any (:ids::uuid[])', { status: `'EXHAUSTED'`, endedAt: 'now()' })}
, failing as (
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
select count(*)::int as expired from ended`,
};

/**
 * Ends the open deliveries of events with ids less than `firstKept` as EXHAUSTED, which puts their subscriptions in ERROR.
 * @param error recorded in the subscriptions.
 * @param endBy in the time of `performance.now()`, in milliseconds.
 * @returns how many deliveries it ended, and whether time ran out before it ended all of them.
 */
export async function expireDeliveries(
  db: CrossTenantDatabase,
  environment: EnvironmentName,
  firstKept: string,
  error: SubscriptionError,
  endBy: number,
): Promise<{ readonly expired: number; readonly more: boolean }> {
  let expired = 0;
  for (const find of FIND_OLD) {
    for (;;) {
      const old = await db.run<OldRow>(find, { environment, firstKept });
      if (old.length === 0) break;
      if (performance.now() > endBy) return { expired, more: true };
      const count = await expire(db, old, error);
      expired += count;
      expiredDeliveries.inc({ environment }, count);
    }
  }
  return { expired, more: false };
}

function expire(db: CrossTenantDatabase, old: readonly OldRow[], error: SubscriptionError): Promise<number> {
  return db.transaction(async (run) => {
    await lockSubscriptions(run, old);
    const [row] = await run<{ expired: number }>(EXPIRE, {
      ids: old.map(({ id }) => id),
      error: JSON.stringify(error),
    });
    await unblockDeliveries(
      run,
      old.filter(({ ordered }) => ordered),
    );
    return row!.expired;
  });
}
