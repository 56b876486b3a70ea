import type { EnvironmentName } from '../../platform/tenant.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';
import type { Run, Statement } from './dispatch-database.ts';
import { BATCH_LEASE_MS, MAX_BATCHES_AGAIN, MAX_RETRIES_AGAIN, OVERDUE_AFTER_MS } from './dispatch-limits.ts';

const OPEN_IN_BATCH = `webhooks.delivery d where d.id = any (b.delivery_ids) and d.batch_id = b.id and d.status = 'PENDING'`;

const FORGET_BATCHES: Statement = {
  name: 'forget_batches',
  text: `
delete from webhooks.batch b
 where b.leased_until < now() and not exists (select from ${OPEN_IN_BATCH})`,
};

const BATCHES_AGAIN: Statement = {
  name: 'batches_again',
  text: `
with expired as (
  select id from webhooks.batch where leased_until < now()
   order by leased_until limit ${MAX_BATCHES_AGAIN} for update skip locked
), again as (
  update webhooks.batch b set leased_until = now() + interval '${BATCH_LEASE_MS} ms'
    from expired where b.id = expired.id
  returning b.id, b.delivery_ids
), leased as (
  update webhooks.delivery d
     set leased_to = $1, busy_since = now(), busy_until = now() + interval '${BATCH_LEASE_MS} ms'
    from again
   where d.id = any (again.delivery_ids) and d.batch_id = again.id and d.status = 'PENDING'
  returning d.id, d.batch_id, d.merchant_id, d.environment, d.subscription_id, d.event_id
)
select leased.*, e.type as event_type, e.request_id
  from leased
  join webhooks.event e
    on e.merchant_id = leased.merchant_id and e.environment = leased.environment and e.id = leased.event_id
 order by leased.id`,
};

/** The deliveries of batches whose lease has ended while they are open; batches without any are forgotten. */
export async function handOutBatchesAgain(run: Run, caller: string): Promise<ClaimedDelivery[]> {
  await run(FORGET_BATCHES, []);
  return run<ClaimedDelivery>(BATCHES_AGAIN, [caller]);
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
  select id from webhooks.delivery
   where status = 'RETRYING' and next_attempt_at < now() - interval '${OVERDUE_AFTER_MS} ms'
     and (busy_until is null or busy_until < now() - interval '${OVERDUE_AFTER_MS} ms')
     and (handed_out_at is null or handed_out_at < now() - interval '${OVERDUE_AFTER_MS} ms')
   order by next_attempt_at limit ${MAX_RETRIES_AGAIN} for update skip locked
), handed as (
  update webhooks.delivery d set leased_to = $1, handed_out_at = now()
    from overdue where d.id = overdue.id
  returning d.id, d.merchant_id, d.environment, d.subscription_id, d.event_id
)
select handed.*, e.type as event_type, e.request_id
  from handed
  join webhooks.event e
    on e.merchant_id = handed.merchant_id and e.environment = handed.environment and e.id = handed.event_id`,
};

/** Retries whose time passed two minutes ago: their workflow is started again, which does no harm where it runs. */
export const handOutRetriesAgain = (run: Run, caller: string) => run<RetryRow>(RETRIES_AGAIN, [caller]);

const RETRY_STARTS: Statement = {
  name: 'retry_starts',
  text: `
select d.id, d.merchant_id, d.environment, d.subscription_id, e.type as event_type, e.request_id
  from webhooks.delivery d
  join webhooks.event e
    on e.merchant_id = d.merchant_id and e.environment = d.environment and e.id = d.event_id
 where d.id = any ($1::uuid[])`,
};

/** What the retry workflows of these deliveries are started with. */
export const readRetries = (run: Run, ids: readonly string[]) => run<RetryRow>(RETRY_STARTS, [ids]);
