import { BATCH_LEASE_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { ClaimedDelivery } from './claimed-delivery.ts';
import { MAX_REQUEUED_BATCHES, MAX_REQUEUED_RETRIES, OVERDUE_AFTER_MS } from './dispatch-limits.ts';

const LEASE_EXPIRED: Statement = {
  name: 'lease_expired',
  text: `
update webhooks.batch b set leased_until = now() + interval '${BATCH_LEASE_MS} ms'
  from (select id from webhooks.batch where leased_until < now()
         order by leased_until limit ${MAX_REQUEUED_BATCHES} for update skip locked) expired
 where b.id = expired.id
returning b.id, b.delivery_ids`,
};

const LEASE_OPEN: Statement = {
  name: 'lease_open',
  text: `
with leased as (
  update webhooks.open_delivery
     set leased_to = :caller, in_flight_since = now(), in_flight_until = now() + interval '${BATCH_LEASE_MS} ms'
   where id = any (:ids::uuid[]) and status = 'PENDING' and batch_id = any (:batchIds::uuid[])
  returning id, batch_id, merchant_id, environment, subscription_id, event_type, request_id
)
select * from leased order by id`,
};

const DELETE_BATCHES: Statement = {
  name: 'delete_batches',
  text: 'delete from webhooks.batch where id = any (:ids::uuid[])',
};

/** Leases the open deliveries of batches whose lease has expired to the caller; deletes batches that have none. */
export async function requeueExpiredBatches(run: Run, caller: string): Promise<ClaimedDelivery[]> {
  const expired = await run<{ id: string; delivery_ids: string[] }>(LEASE_EXPIRED);
  if (expired.length === 0) return [];
  const ids = expired.flatMap(({ delivery_ids }) => delivery_ids);
  const open = await run<ClaimedDelivery>(LEASE_OPEN, { caller, ids, batchIds: expired.map(({ id }) => id) });
  const openBatches = new Set(open.map(({ batch_id }) => batch_id));
  const done = expired.filter(({ id }) => !openBatches.has(id));
  await run(DELETE_BATCHES, { ids: done.map(({ id }) => id) });
  return open;
}

/** A delivery whose retry workflow must be started. */
export interface RetryRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly event_type: string;
  readonly request_id: string;
}

const REQUEUE_RETRIES: Statement = {
  name: 'requeue_retries',
  text: `
with overdue as (
  select id from webhooks.open_delivery
   where status = 'RETRYING' and next_attempt_at < now() - interval '${OVERDUE_AFTER_MS} ms'
     and (in_flight_until is null or in_flight_until < now() - interval '${OVERDUE_AFTER_MS} ms')
     and (requeued_at is null or requeued_at < now() - interval '${OVERDUE_AFTER_MS} ms')
   order by next_attempt_at limit ${MAX_REQUEUED_RETRIES} for update skip locked
)
update webhooks.open_delivery d set leased_to = :caller, requeued_at = now()
  from overdue where d.id = overdue.id
returning d.id, d.merchant_id, d.environment, d.subscription_id, d.event_type, d.request_id`,
};

/** Retries that are two minutes overdue: their workflow is started again, which has no effect if it runs. */
export const requeueOverdueRetries = (run: Run, caller: string) => run<RetryRow>(REQUEUE_RETRIES, { caller });

const RETRY_STARTS: Statement = {
  name: 'retry_starts',
  text: `
select id, merchant_id, environment, subscription_id, event_type, request_id
  from webhooks.open_delivery where id = any (:ids::uuid[])`,
};

/** The input of the retry workflows of these deliveries. */
export const readRetries = (run: Run, ids: readonly string[]) => run<RetryRow>(RETRY_STARTS, { ids });
