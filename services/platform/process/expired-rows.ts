import { countAffectedNamed } from '../database/named-sql.ts';
import type { PeriodicTask } from './periodic-tasks.ts';

const BATCH_ROWS = 1_000;

interface ExpiredRows {
  /** The name of the task. */
  readonly name: string;
  readonly table: string;
  /** The time from which a row's age counts. An index on it finds the oldest rows. */
  readonly since: string;
  /** The age at which a row is deleted: an interval, as SQL. */
  readonly age: string;
}

/**
 * A periodic task that deletes the rows of a table that have reached an age, oldest first. It skips rows that a write
 * holds at this moment, so that neither waits for the other.
 */
export function expiredRows({ name, table, since, age }: ExpiredRows): PeriodicTask {
  const deleteBatch = `
delete from ${table} where ctid = any(array(
  select ctid from ${table}
   where ${since} <= now() - ${age}
   order by ${since} limit :limit for update skip locked))`;
  return {
    name,
    intervalMs: 60_000,
    async runBatch(em) {
      const rows = await countAffectedNamed(em, deleteBatch, { limit: BATCH_ROWS });
      return { rows, more: rows === BATCH_ROWS };
    },
  };
}
