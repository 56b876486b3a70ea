import { Counter } from 'prom-client';
import { metrics } from '../platform/telemetry.ts';
import type { EnvironmentName } from '../platform/tenant.ts';
import type { DispatchDatabase, Statement } from './dispatch/dispatch-database.ts';
import { LOCK_SUBSCRIPTIONS } from './dispatch/record-attempts.sql.ts';
import { endDeliveries } from './end-deliveries.ts';

const expiredDeliveries = new Counter({
  name: 'payments_webhook_expired_deliveries_total',
  help: 'Deliveries that were still open when their event was past its retention, and were given up.',
  labelNames: ['environment'],
  registers: [metrics],
});

interface OldRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly subscription_id: string;
}

const MOST_AT_ONCE = 500;

/** Their own ids are older only where two clocks differ: what is made by an event follows it. */
const FIND_OLD: Statement = {
  name: 'find_old_deliveries',
  text: `
select id, merchant_id, subscription_id from webhooks.open_delivery
 where environment = $1 and (event_id < $2::uuid or id < $2::uuid)
 limit ${MOST_AT_ONCE}`,
};

const EXPIRE: Statement = {
  name: 'expire_deliveries',
  text: `
with ${endDeliveries('where d.id = any ($1::uuid[])', { status: `'EXHAUSTED'`, endedAt: 'now()' })}
, failing as (
  update webhooks.subscription s
     set state = 'ERROR', error_reason = coalesce(s.error_reason, $2), error_at = coalesce(s.error_at, now())
    from (select distinct merchant_id, environment, subscription_id from ended) e
   where s.merchant_id = e.merchant_id and s.environment = e.environment and s.id = e.subscription_id
     and s.state <> 'DISABLED'
)
select count(*)::int as expired from ended`,
};

/**
 * Ends open deliveries of events with ids less than `firstKept` as EXHAUSTED, which is an ERROR of their subscriptions.
 * @param reason what stands in the subscription.
 * @param endBy by `performance.now()`.
 * @returns how many, and whether the time was up before all were ended.
 */
export async function expireDeliveries(
  db: DispatchDatabase,
  environment: EnvironmentName,
  firstKept: string,
  reason: string,
  endBy: number,
): Promise<{ readonly expired: number; readonly more: boolean }> {
  let expired = 0;
  for (;;) {
    const old = await db.run<OldRow>(FIND_OLD, [environment, firstKept]);
    if (old.length === 0) return { expired, more: false };
    if (performance.now() > endBy) return { expired, more: true };
    const count = await expire(db, environment, old, reason);
    expired += count;
    expiredDeliveries.inc({ environment }, count);
  }
}

function expire(db: DispatchDatabase, environment: EnvironmentName, old: readonly OldRow[], reason: string) {
  return db.transaction(async (run) => {
    await run(LOCK_SUBSCRIPTIONS, [
      old.map(({ merchant_id }) => merchant_id),
      old.map(() => environment),
      old.map(({ subscription_id }) => subscription_id),
    ]);
    const [row] = await run<{ expired: number }>(EXPIRE, [old.map(({ id }) => id), reason]);
    return row!.expired;
  });
}
