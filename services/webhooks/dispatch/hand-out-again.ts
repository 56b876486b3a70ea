import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { ClaimedDelivery } from './claimed-delivery.ts';
import { BATCH_LEASE_MS, MAX_BATCHES_AGAIN, MAX_RETRIES_AGAIN, OVERDUE_AFTER_MS } from './dispatch-limits.ts';

const LEASE_EXPIRED: Statement = {
  name: 'lease_expired',
  text: `
update webhooks.batch b set leased_until = now() + interval '${BATCH_LEASE_MS} ms'
  from (select id from webhooks.batch where leased_until < now()
         order by leased_until limit ${MAX_BATCHES_AGAIN} for update skip locked) expired
 where b.id = expired.id
returning b.id, b.delivery_ids`,
};

const LEASE_OPEN: Statement = {
  name: 'lease_open',
  text: `
with leased as (
  update webhooks.open_delivery
     set leased_to = $1, busy_since = now(), busy_until = now() + interval '${BATCH_LEASE_MS} ms'
   where id = any ($2::uuid[]) and status = 'PENDING' and batch_id = any ($3::uuid[])
  returning id, batch_id, merchant_id, environment, subscription_id, event_type, request_id
)
select * from leased order by id`,
};

const FORGET_BATCHES: Statement = {
  name: 'forget_batches',
  text: 'delete from webhooks.batch where id = any ($1::uuid[])',
};

/** The deliveries of batches whose lease has ended while they are open; batches without any are forgotten. */
export async function handOutBatchesAgain(run: Run, caller: string): Promise<ClaimedDelivery[]> {
  const expired = await run<{ id: string; delivery_ids: string[] }>(LEASE_EXPIRED, []);
  if (expired.length === 0) return [];
  const ids = expired.flatMap(({ delivery_ids }) => delivery_ids);
  const open = await run<ClaimedDelivery>(LEASE_OPEN, [caller, ids, expired.map(({ id }) => id)]);
  const openBatches = new Set(open.map(({ batch_id }) => batch_id));
  const done = expired.filter(({ id }) => !openBatches.has(id));
  await run(FORGET_BATCHES, [done.map(({ id }) => id)]);
  return open;
}

/** A delivery whose retry workflow is to be started. */
export interface RetryRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly event_type: string;
  readonly request_id: string;
}

const RETRIES_AGAIN: Statement = {
  name: 'retries_again',
  text: `
with overdue as (
  select id from webhooks.open_delivery
   where status = 'RETRYING' and next_attempt_at < now() - interval '${OVERDUE_AFTER_MS} ms'
     and (busy_until is null or busy_until < now() - interval '${OVERDUE_AFTER_MS} ms')
     and (handed_out_at is null or handed_out_at < now() - interval '${OVERDUE_AFTER_MS} ms')
   order by next_attempt_at limit ${MAX_RETRIES_AGAIN} for update skip locked
)
update webhooks.open_delivery d set leased_to = $1, handed_out_at = now()
  from overdue where d.id = overdue.id
returning d.id, d.merchant_id, d.environment, d.subscription_id, d.event_type, d.request_id`,
};

/** Retries whose time passed two minutes ago: their workflow is started again, which does no harm where it runs. */
export const handOutRetriesAgain = (run: Run, caller: string) => run<RetryRow>(RETRIES_AGAIN, [caller]);

const RETRY_STARTS: Statement = {
  name: 'retry_starts',
  text: `
select id, merchant_id, environment, subscription_id, event_type, request_id
  from webhooks.open_delivery where id = any ($1::uuid[])`,
};

/** What the retry workflows of these deliveries are started with. */
export const readRetries = (run: Run, ids: readonly string[]) => run<RetryRow>(RETRY_STARTS, [ids]);
