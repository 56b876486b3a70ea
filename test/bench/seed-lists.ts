import pg from 'pg';
import type { Tenant } from '../../services/platform/tenant.ts';

const INSERT_AT_ONCE = 500_000;

/** The age of row n of $5, and its time: rows are spread over a thousand days, in their order. */
const AGE = `lateral (select interval '1000 days' * (($5::int - n) / $5::float8) as age),
       lateral (select date_trunc('milliseconds', now() - age) as at)`;

/** Nine in ten have succeeded; the newest twenty await the merchant. */
export const REFUND_CASES = `
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

/** One in a thousand is lost, and most are won; the oldest and the newest twenty are open. */
const DISPUTES = `
insert into refunds.dispute
  (merchant_id, environment, id, payment_intent_id, sale_id, amount_minor, reason, opened_at, due_at, evidence_count,
   closed_at, outcome)
select $1, $2, uuidv7(-age), md5(n::text)::uuid, md5('sale' || n)::uuid, 100, 'GENERAL', at, at + interval '7 days', 0,
       case when outcome is not null then at end, outcome
  from generate_series($3::int, $4::int) as n, ${AGE},
       lateral (select case when n <= 20 or n > $5 - 20 then null when n % 1000 = 7 then 'LOST' else 'WON' end as outcome)`;

/** What is inserted for each list that `lists-bench.ts` measures. */
export const SEEDED = {
  products: PRODUCTS,
  'advance requests': ADVANCE_REQUESTS,
  disputes: DISPUTES,
} as const;

/** Inserts this many rows of a list for a merchant, without what they refer to. */
export async function seedList(
  databaseUrl: string,
  insert: string,
  tenant: Tenant,
  count: number,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Without the checks of foreign keys.
    await client.query(`set session_replication_role = 'replica'; set synchronous_commit = off`);
    for (let first = 1; first <= count; first += INSERT_AT_ONCE) {
      const last = Math.min(first + INSERT_AT_ONCE - 1, count);
      await client.query(insert, [tenant.merchantId, tenant.environment, first, last, count]);
    }
  } finally {
    await client.end();
  }
}
