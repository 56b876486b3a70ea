import { statementTask } from '../platform/process/statement-task.ts';

const BATCH_ROWS = 200;

/**
 * Locks no rows, because Citus supports that only within one merchant. A quote that expired this long ago can no longer be
 * requested.
 */
const DELETE = `
with expired as (
  select merchant_id, environment, id from advances.quote
   where requested_by is null and expires_at <= now() - interval '30 days'
     -- A backdated quote expired long before it was made, so its creation counts too.
     and uuid_extract_timestamp(id) <= now() - interval '30 days'
   order by expires_at limit ${BATCH_ROWS}
), installments as (
  delete from advances.quote_installment i using expired e
   where i.merchant_id = e.merchant_id and i.environment = e.environment and i.quote_id = e.id
), quotes as (
  delete from advances.quote q using expired e
   where q.merchant_id = e.merchant_id and q.environment = e.environment and q.id = e.id
     and q.requested_by is null
  returning q.id
)
select count(*)::int as rows from quotes`;

/** Deletes unrequested quotes thirty days after they expired and were made. */
export const expiredQuotes = statementTask({
  name: 'expired-advance-quotes',
  intervalMs: 60_000,
  sql: DELETE,
  batchRows: BATCH_ROWS,
});
