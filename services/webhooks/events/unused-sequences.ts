import { executeNamed } from '../../platform/database/named-sql.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';

const BATCH_ROWS = 1_000;
const UNUSED_FOR = "interval '1 year'";

/** A merchant with sequences that have not been used for a year. */
const FIND = `
select merchant_id as "merchantId", environment, last_used_on::text as "lastUsedOn" from webhooks.object_sequence
 where last_used_on < (now() - ${UNUSED_FOR})::date
 order by last_used_on, merchant_id, environment limit 1`;

/** Keeps events of the merchant from being numbered in the meantime. */
const LOCK = 'select webhooks.lock_subscriptions(:merchantId, :environment)';

const DELETE = `
with unused as (
  delete from webhooks.object_sequence where (merchant_id, environment, object_id) in (
    select merchant_id, environment, object_id from webhooks.object_sequence
     where last_used_on = :lastUsedOn and merchant_id = :merchantId and environment = :environment limit ${BATCH_ROWS})
  returning merchant_id, environment, last_sequence
), raised as (
  insert into webhooks.first_sequence as f (merchant_id, environment, after_sequence)
  select merchant_id, environment, max(last_sequence) from unused group by merchant_id, environment
  on conflict (merchant_id, environment) do update
     set after_sequence = greatest(f.after_sequence, excluded.after_sequence)
)
select count(*)::int as rows from unused`;

interface UnusedRow {
  readonly merchantId: string;
  readonly environment: string;
  readonly lastUsedOn: string;
}

/**
 * Deletes the sequences of objects that have had no event for a year. From then on, new sequences of the merchant
 * start after the highest deleted one, so if such an object has another event, its sequence still rises.
 */
export const unusedSequences: PeriodicTask = {
  name: 'unused-sequences',
  intervalMs: 60_000,
  async runBatch(em) {
    const [found] = await executeNamed<UnusedRow>(em, FIND);
    if (!found) return { rows: 0, more: false };
    await executeNamed(em, LOCK, { ...found });
    const [deleted] = await executeNamed<{ rows: number }>(em, DELETE, { ...found });
    return { rows: deleted!.rows, more: true };
  },
};
