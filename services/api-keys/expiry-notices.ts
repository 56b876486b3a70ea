import * as notifyContact from '../contracts/accounts/notify-contact.contract.ts';
import { EXPIRY_NOTICE_DAYS, IS_STILL_USED, REPLACED_NOTICE_IS_DUE } from '../platform/api-key-expiry.ts';
import { insertCommandsOf } from '../platform/outbox/outbox-commands.ts';
import { statementTask } from '../platform/process/statement-task.ts';

const BATCH_ROWS = 1_000;
const notice = notifyContact.noticeOfEachRow('API_KEY_EXPIRING');
const { early, last } = EXPIRY_NOTICE_DAYS;

const NOTE_AND_NOTIFY = `noted as (
  update api_keys.api_key k set expiry_notice_days = due.days from due
   where k.merchant_id = due.merchant_id and k.environment = due.environment and k.id = due.id
  returning k.merchant_id, k.environment, k.id, uuidv7()::text as request_id
), notified as (
  ${insertCommandsOf(notice.command, 'noted', notice.argumentsSql)}
)
select count(*)::int as rows from noted`;

/**
 * A key issued for less than seven days (or one day) gets no notice at that point, because its issuer knows. Uses the
 * partial index on due keys.
 */
const NOTIFY = `
with due as (
  select merchant_id, environment, id, days
    from api_keys.api_key, lateral (
      select case when expires_at <= now() + interval '24 hours' * ${last} then ${last} else ${early} end as days) step
   where environment = 'live' and revoked_at is null and (expiry_notice_days is null or expiry_notice_days > ${last})
     and expires_at > now() and expires_at <= now() + interval '24 hours' * ${early}
     and (expiry_notice_days is null or days < expiry_notice_days)
     and created_at < expires_at - interval '24 hours' * days
   order by expires_at limit ${BATCH_ROWS} for update of api_key skip locked
), ${NOTE_AND_NOTIFY}`;

/** A key that is used only after one run is found by a later run, until it expires. */
const NOTIFY_STILL_USED = `
with due as (
  select merchant_id, environment, id, ${last} as days
    from api_keys.api_key
   where environment = 'live' and revoked_at is null and rotated_at is not null and expiry_notice_days = 0
     and expires_at > now() and ${REPLACED_NOTICE_IS_DUE} and ${IS_STILL_USED}
   order by expires_at limit ${BATCH_ROWS} for update of api_key skip locked
), ${NOTE_AND_NOTIFY}`;

/** Notifies developers and administrators that a live key expires, unless it was revoked or rotated. */
export const expiringKeyNotices = statementTask({
  name: 'expiring-key-notices',
  intervalMs: 600_000,
  sql: NOTIFY,
  batchRows: BATCH_ROWS,
});

/** Notifies them of a replaced live key that is still used near the end of its overlap. */
export const replacedKeyNotices = statementTask({
  name: 'replaced-key-notices',
  intervalMs: 600_000,
  sql: NOTIFY_STILL_USED,
  batchRows: BATCH_ROWS,
});
