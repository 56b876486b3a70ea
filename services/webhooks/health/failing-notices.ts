import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import { insertCommandsOf } from '../../platform/outbox/outbox-commands.ts';
import { statementTask } from '../../platform/process/statement-task.ts';

const BATCH_ROWS = 1_000;
const notice = notifyContact.noticeOfEachRow('WEBHOOK_FAILING');

/** A subscription in ERROR has a notice of its own. */
const NOTIFY = `
with due as (
  select merchant_id, environment, subscription_id from webhooks.endpoint_health
   where failing_since <= now() - interval '15 minutes' and notified_at is null
   order by failing_since limit ${BATCH_ROWS} for update skip locked
), noted as (
  update webhooks.endpoint_health h set notified_at = now() from due
   where h.merchant_id = due.merchant_id and h.environment = due.environment
     and h.subscription_id = due.subscription_id
  returning h.merchant_id, h.environment, h.subscription_id, h.generation
), failing as (
  select s.merchant_id, s.environment, s.id, uuidv7()::text as request_id
    from noted n
    join webhooks.subscription s
      on s.merchant_id = n.merchant_id and s.environment = n.environment and s.id = n.subscription_id
   where s.generation = n.generation and s.state in ('PENDING', 'ACTIVE')
), notified as (
  ${insertCommandsOf(notice.command, 'failing', notice.argumentsSql)}
)
select count(*)::int as rows from noted`;

/**
 * Notifies those who manage webhooks of endpoints that have been failing for a quarter of an hour, once per period of
 * failing. Endpoints that recover sooner cause no notice.
 */
export const failingEndpointNotices = statementTask({
  name: 'failing-endpoint-notices',
  intervalMs: 60_000,
  sql: NOTIFY,
  batchRows: BATCH_ROWS,
});
