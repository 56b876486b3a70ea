import { ALLOW_IDLE_TRANSACTION, dropPartitions, PARTITION_STATE } from '../database/drop-partitions.ts';
import { executeNamed } from '../database/named-sql.ts';
import type { PeriodicTask } from '../process/periodic-tasks.ts';

const INTERVAL_MS = 60 * 60_000;
/** Dropping starts no further partition after this time. */
const DROP_BUDGET_MS = 25_000;

/** Far enough ahead that a system which was down for weeks can record entries at once. */
const MAKE_AHEAD = `
select made as name from platform.ensure_audit_partitions(now() - interval '1 day', now() + interval '90 days') as made`;

/** The partitions whose last entry is past the retention period, the oldest first. */
const FIND_EXPIRED = `
select c.relname as name, 'audit_entry' as parent, ${PARTITION_STATE} as state
  from pg_class c
 cross join lateral regexp_match(c.relname, '^audit_entry_(\\d{8})$') as name_parts
  left join pg_inherits i on i.inhrelid = c.oid
 where c.relnamespace = 'platform'::regnamespace and c.relkind = 'r'
   and (to_date(name_parts[1], 'YYYYMMDD') + 30)::timestamp at time zone 'UTC'
       <= now() - :retentionMs::float8 * interval '1 ms'
 order by i.inhdetachpending desc nulls first, name_parts[1]`;

/**
 * Creates the partitions of the audit trail ahead of time, and drops those past the retention period.
 * @param retentionMs how long entries are kept at least.
 */
export function auditPartitions(retentionMs: number): PeriodicTask {
  return {
    name: 'audit-partitions',
    intervalMs: INTERVAL_MS,
    async runBatch(em, database) {
      const made = await executeNamed(em, MAKE_AHEAD);
      // Detaching waits for the lock of this transaction on the parent: drop in the next batch.
      if (made.length > 0) return { rows: made.length, more: true };
      await executeNamed(em, ALLOW_IDLE_TRANSACTION);
      const expired = { schema: 'platform', sql: FIND_EXPIRED, parameters: { retentionMs } };
      const { dropped, more } = await dropPartitions(database, expired, performance.now() + DROP_BUDGET_MS);
      return { rows: dropped.length, more };
    },
  };
}
