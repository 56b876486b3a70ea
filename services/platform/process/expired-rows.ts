import { executeNamed } from '../database/named-sql.ts';
import type { PeriodicTask } from './periodic-tasks.ts';

const BATCH_ROWS = 1_000;

interface ExpiredRows {
  readonly name: string;
  readonly table: string;
  /** The column from which a row's age counts. Needs an index, which finds the oldest rows. */
  readonly since: string;
  /** The age at which a row is deleted: an interval, as SQL. */
  readonly age: string;
}

/**
 * A periodic task that deletes the rows of a table that have reached an age, oldest first. Skips rows that a write
 * has locked, so that neither waits for the other. Each batch of a run begins where the last one ended, because a
 * long transaction may keep the deleted rows before it in the index.
 */
export function expiredRows({ name, table, since, age }: ExpiredRows): PeriodicTask {
  const deleteBatch = `
with deleted as (
  delete from ${table} where ctid = any(array(
    select ctid from ${table}
     where ${since} >= :from::timestamptz and ${since} <= now() - ${age}
     order by ${since} limit :limit for update skip locked))
  returning ${since} as at
)
select count(*)::int as rows, max(at)::text as last from deleted`;
  let from = START;
  return {
    name,
    intervalMs: 60_000,
    async runBatch(em) {
      const parameters = { from, limit: BATCH_ROWS };
      const [deleted] = await executeNamed<DeletedRow>(em, deleteBatch, parameters);
      const { rows, last } = deleted!;
      const more = rows === BATCH_ROWS;
      from = more && last !== null ? last : START;
      return { rows, more };
    },
  };
}

const START = '-infinity';

interface DeletedRow {
  readonly rows: number;
  /** The `since` of the last deleted row. */
  readonly last: string | null;
}
