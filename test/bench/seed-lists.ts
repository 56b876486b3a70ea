import pg from 'pg';
import type { Tenant } from '../../services/platform/tenant.ts';

const INSERT_AT_ONCE = 500_000;

/** What inserts rows $3 to $4 of $5 for merchant $1 in environment $2, and what creates their partitions before. */
export interface SeededRows {
  readonly table: string;
  readonly insert: string;
  readonly partitions?: string;
}

/** The age of row n of $5, and its time: rows are spread over a thousand days, in their order. */
const AGE = `lateral (select interval '1000 days' * (($5::int - n) / $5::float8) as age),
       lateral (select date_trunc('milliseconds', now() - age) as at)`;

/** Nine in ten have succeeded; the newest twenty await the merchant. */
const REFUND_CASES = `
insert into refunds.refund_case
  (merchant_id, environment, id, payment_intent_id, order_id, amount_minor, status, initiator, approval_mode, blocked_by,
   evidence_count, reason, merchant_review_deadline_at, executions, processing_started_at, requested_at, status_changed_at,
   updated_at)
select $1, $2, uuidv7(-age), md5(n::text)::uuid, md5('order' || n)::uuid, n, status,
       case when n % 7 = 0 and status not in ('REJECTED', 'MERCHANT_REVIEW') then 'MERCHANT' else 'CUSTOMER' end,
       'INSTANT', '{}', 0, 'bench', case status when 'MERCHANT_REVIEW' then at + interval '7 days' end,
       1, case when status in ('SUCCEEDED', 'FAILED') then at end, at, at, at
  from generate_series($3::int, $4::int) as n, ${AGE},
       lateral (select case when n > $5 - 20 then 'MERCHANT_REVIEW'
                            when n % 20 = 7 then 'REJECTED' when n % 20 = 11 then 'FAILED' else 'SUCCEEDED' end as status)`;

/** One in ten is archived; the oldest twenty are drafts. */
const PRODUCTS = `
insert into catalog.product
  (merchant_id, environment, id, name, product_type, status, refund_window_days, created_at, updated_at, archived_at)
select $1, $2, uuidv7(-age), 'Course ' || n, 'ONE_TIME', status, 7, at, at, case status when 'ARCHIVED' then at end
  from generate_series($3::int, $4::int) as n, ${AGE},
       lateral (select case when n <= 20 then 'DRAFT' when n % 10 = 3 then 'ARCHIVED' else 'ACTIVE' end as status)`;

/** One in ten is refused; the oldest twenty await a review. */
const ADVANCE_REQUESTS = `
insert into advances.request
  (merchant_id, environment, id, quote_id, schedule_id, amount_minor, fee_minor, net_minor, status, requested_at, reviewed_at,
   released_at, first_date, last_date)
select $1, $2, uuidv7(-age), uuidv7(-age), uuidv7(-age), 1000, 10, 990, status, at,
       case when status <> 'PENDING_REVIEW' then at end, case status when 'SETTLED' then at end, at::date, at::date
  from generate_series($3::int, $4::int) as n, ${AGE},
       lateral (select case when n <= 20 then 'PENDING_REVIEW' when n % 10 = 3 then 'REFUSED' else 'SETTLED' end as status)`;

/** One in a thousand is lost, and most are won. One in ten is open and overdue; the newest twenty await a response. */
const DISPUTES = `
insert into refunds.dispute
  (merchant_id, environment, id, payment_intent_id, sale_id, amount_minor, reason, opened_at, due_at, evidence_count,
   closed_at, outcome)
select $1, $2, uuidv7(-age), md5(n::text)::uuid, md5('sale' || n)::uuid, 100, 'GENERAL', at, at + interval '7 days', 0,
       case when outcome is not null then at end, outcome
  from generate_series($3::int, $4::int) as n, ${AGE},
       lateral (select case when n % 10 = 3 and age > '8 days' or n > $5 - 20 then null when n % 1000 = 7 then 'LOST' else 'WON' end as outcome)`;

/** The oldest twenty are active; of the others, one in ten is revoked, and most have expired. */
const API_KEYS = `
insert into api_keys.api_key
  (merchant_id, environment, id, name, hint, scopes, key_hash, pepper_version, created_at, expires_at, revoked_at)
select $1, $2, uuidv7(-age), 'Web shop', 'pk', '{REFUNDS_READ}', sha256(uuid_send(gen_random_uuid())), 1, at,
       case when n > 20 then at + interval '1 ms' end, case when n > 20 and n % 10 = 3 then at end
  from generate_series($3::int, $4::int) as n, ${AGE}`;

/** Half of it was done by people: the oldest twenty entries by one of them, the others by one of five. Over 700 days. */
const AUDIT_ENTRIES = `
insert into platform.audit_entry
  (merchant_id, environment, id, caller, account_id, action, request, ip_address, request_id, occurred_at)
select $1, $2, uuidv7(-age * 0.7), 'dashboard', case when n <= 20 then md5('account few')::uuid
         when n % 2 = 1 then md5('account' || n % 10)::uuid end,
       'payments.refunds.v1.RefundCaseService/AddBlocker', '{"refundCaseId": "0197a3f1-5a3c-7b1e-9d52-6f1f0c2f7a11"}',
       '203.0.113.7', md5('request' || n), at
  from generate_series($3::int, $4::int) as n, ${AGE}`;

/** Row n of $5 of events and deliveries, spread over the last 30 days in their order; an event and its delivery have the same id. */
const PUBLISHED = `generate_series($3::int, $4::int) as n,
       lateral (select date_trunc('day', now()) - interval '30 days' * (($5::int - n) / $5::float8) as at) as time,
       lateral (select (left(platform.first_id(at)::text, 13) || '-7000-8000-' || left(md5($1::uuid::text), 6)
                        || lpad(to_hex(n), 6, '0'))::uuid as id) as key,
       lateral (select 'object' || n / 3 as object_id, md5('request' || n / 2) as request_id,
                       case when n <= 20 then 'refund.failed.v1' when n % 10 = 3 then 'refund.succeeded.v1'
                            else 'refund.requested.v1' end as type) as event`;

const WEBHOOK_PARTITIONS = `select webhooks.ensure_partitions('live', now() - interval '32 days', now())`;

/** Three for each object, two of each request. The oldest twenty have a type of their own; of the others, one in ten. */
const EVENTS = `
insert into webhooks.event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
select $1::uuid, $2, id, type, object_id, n % 3 + 1, request_id, at, '{"id":"' || id || '","data":{"amountMinor":1990}}'
  from ${PUBLISHED}`;

/**
 * To ten subscriptions, the oldest twenty to one of their own. One in twenty is open: half of them held, the newest twenty being
 * retried. One in a hundred is exhausted, and one of a resend.
 */
const DELIVERIES = `
with delivery as (
  select $1::uuid as merchant_id, $2::text as environment, id, n, type, object_id, request_id, at,
         md5('subscription' || case when n <= 20 then 'few' else (n % 10)::text end)::uuid as subscription_id,
         case when n % 100 = 13 then md5('resend')::uuid end as resend_id
    from ${PUBLISHED}
), ended as (
  insert into webhooks.ended_delivery
    (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, resend_id, ordered,
     status, attempt_count, ended_at)
  select merchant_id, environment, id, subscription_id, id, type, object_id, 1, request_id, resend_id, false,
         case n % 100 when 7 then 'EXHAUSTED' else 'SUCCEEDED' end, 1, at
    from delivery where n % 20 <> 1
)
insert into webhooks.open_delivery
  (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id, resend_id, ordered,
   status, attempt_count, next_attempt_at)
select merchant_id, environment, id, subscription_id, webhooks.lane_of(subscription_id), id, type, object_id, 1, request_id,
       resend_id, false, case when n > $5 - 400 then 'RETRYING' when n % 40 = 1 then 'HELD' else 'PENDING' end, 1, at
  from delivery where n % 20 = 1`;

/** What is inserted for each list. */
export const SEEDED = {
  'refund cases': { table: 'refunds.refund_case', insert: REFUND_CASES },
  products: { table: 'catalog.product', insert: PRODUCTS },
  'advance requests': { table: 'advances.request', insert: ADVANCE_REQUESTS },
  disputes: { table: 'refunds.dispute', insert: DISPUTES },
  'API keys': { table: 'api_keys.api_key', insert: API_KEYS },
  'audit trail': {
    table: 'platform.audit_entry',
    insert: AUDIT_ENTRIES,
    partitions: `select platform.ensure_audit_partitions(now() - interval '701 days', now())`,
  },
  events: { table: 'webhooks.event', insert: EVENTS, partitions: WEBHOOK_PARTITIONS },
  deliveries: { table: 'webhooks.ended_delivery', insert: DELIVERIES, partitions: WEBHOOK_PARTITIONS },
} as const satisfies Record<string, SeededRows>;

/** Inserts the rows of a list for merchants with these numbers of them, without what they refer to. */
export async function seedList(
  databaseUrl: string,
  { table, insert, partitions }: SeededRows,
  merchants: readonly { readonly tenant: Tenant; readonly count: number }[],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Without the checks of foreign keys.
    await client.query(`set session_replication_role = 'replica'; set synchronous_commit = off`);
    if (partitions) await client.query(partitions);
    const indexes = await dropIndexes(client, table);
    for (const { tenant, count } of merchants) {
      for (let first = 1; first <= count; first += INSERT_AT_ONCE) {
        const last = Math.min(first + INSERT_AT_ONCE - 1, count);
        await client.query(insert, [tenant.merchantId, tenant.environment, first, last, count]);
      }
    }
    await createIndexes(client, indexes);
  } finally {
    await client.end();
  }
}

/** Drops the indexes of a table, because many rows are indexed faster together. Returns what creates them again, in their order. */
export async function dropIndexes(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as definition
       from pg_index where indrelid = $1::regclass and not indisunique order by indexrelid`,
    [table],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Creates indexes that `dropIndexes` has dropped. */
export async function createIndexes(client: pg.Client, definitions: readonly string[]): Promise<void> {
  await client.query(`set maintenance_work_mem = '1GB'`);
  for (const definition of definitions) await client.query(definition);
}
