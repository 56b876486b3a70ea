import pg from 'pg';
import type { Tenant } from '../../services/platform/tenant.ts';

const INSERT_AT_ONCE = 500_000;

/** Nine in ten have succeeded; the newest twenty await the merchant. */
const INSERT = `
insert into refunds.refund_case
  (merchant_id, environment, id, payment_intent_id, order_id, amount_minor, status, initiator, approval_mode, blocked_by,
   evidence_count, reason, merchant_review_deadline_at, executions, processing_started_at, requested_at, status_changed_at,
   updated_at)
select $1, $2, uuidv7(-age), md5(n::text)::uuid, md5('order' || n)::uuid, n, status,
       case when n % 7 = 0 and status not in ('REJECTED', 'MERCHANT_REVIEW') then 'MERCHANT' else 'CUSTOMER' end,
       'INSTANT', '{}', 0, 'bench', case status when 'MERCHANT_REVIEW' then at + interval '7 days' end,
       1, case when status in ('SUCCEEDED', 'FAILED') then at end, at, at, at
  from generate_series($3::int, $4::int) as n,
       lateral (select interval '1000 days' * (($5::int - n) / $5::float8) as age,
                       case when n > $5 - 20 then 'MERCHANT_REVIEW'
                            when n % 20 = 7 then 'REJECTED' when n % 20 = 11 then 'FAILED' else 'SUCCEEDED' end as status),
       lateral (select date_trunc('milliseconds', now() - age) as at)`;

/** Inserts this many refund cases of a merchant, spread over a thousand days, in their order, without the payments. */
export async function seedManyCases(databaseUrl: string, tenant: Tenant, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Without the checks of the foreign key.
    await client.query(`set session_replication_role = 'replica'; set synchronous_commit = off`);
    for (let first = 1; first <= count; first += INSERT_AT_ONCE) {
      const last = Math.min(first + INSERT_AT_ONCE - 1, count);
      await client.query(INSERT, [tenant.merchantId, tenant.environment, first, last, count]);
    }
  } finally {
    await client.end();
  }
}
