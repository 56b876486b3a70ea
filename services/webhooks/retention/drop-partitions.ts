import type { PoolClient } from 'pg';
import type { Database } from '../../platform/database/database.ts';
import { isLockTimeout } from '../../platform/database/database-errors.ts';
import { bindNamed } from '../../platform/database/named-sql.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

/** An expired partition, possibly detached by an earlier run that was interrupted. */
interface DuePartition {
  readonly name: string;
  readonly parent: string;
  /** DETACHING: new queries on its parent skip it, but earlier queries may still read it. */
  readonly state: 'ATTACHED' | 'DETACHING' | 'DETACHED';
}

interface DroppedPartitions {
  readonly dropped: readonly string[];
  /** Partitions that are still being read. */
  readonly waiting: readonly string[];
  /** Whether time ran out before every partition was tried. */
  readonly more: boolean;
}

/**
 * Finds the partitions that begin before `firstKept`, by the first day in their names. PostgreSQL detaches one partition
 * of a parent at a time, so those that an earlier run began to detach come first; then the oldest, deliveries before
 * their attempts.
 */
const FIND_DUE = `
select c.relname as name, name_parts[1] as parent,
       case when i.inhrelid is null then 'DETACHED' when i.inhdetachpending then 'DETACHING' else 'ATTACHED' end as state
  from pg_class c
 cross join lateral regexp_match(c.relname, '^((ended_delivery|attempt|event)_(live|test))_(\\d{8})$') as name_parts
  left join pg_inherits i on i.inhrelid = c.oid
 where c.relnamespace = 'webhooks'::regnamespace and c.relkind = 'r' and name_parts[3] = :environment
   and webhooks.first_id(to_date(name_parts[4], 'YYYYMMDD')::timestamp at time zone 'UTC') < :firstKept::uuid
 order by i.inhdetachpending desc nulls first, name_parts[4],
          array_position(array['ended_delivery', 'attempt', 'event'], name_parts[2])`;

/** Short, because other queries queue behind this wait for the readers of a partition. */
const LOCK_TIMEOUT = '3s';

/**
 * Drops the partitions of an environment that begin before `firstKept`. Detaches them concurrently first, so that readers
 * and writers of the parent do not wait. Continues after an interruption, and leaves partitions that are still being read
 * for the next run.
 * @param endBy in the time of `performance.now()`, in milliseconds.
 */
export async function dropPartitions(
  database: Database,
  environment: EnvironmentName,
  firstKept: string,
  endBy: number,
): Promise<DroppedPartitions> {
  const connection = await database.connect();
  try {
    await connection.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
    const { rows } = await connection.query<DuePartition>(bindNamed(FIND_DUE, { environment, firstKept }));
    const dropped: string[] = [];
    const waiting: DuePartition[] = [];
    for (const due of rows) {
      if (performance.now() > endBy) return { dropped, waiting: waiting.map(nameOf), more: true };
      const waits = waiting.some(({ parent }) => parent === due.parent) || !(await drop(connection, due));
      if (waits) waiting.push(due);
      else dropped.push(due.name);
    }
    return { dropped, waiting: waiting.map(nameOf), more: false };
  } finally {
    // Closes the connection instead of pooling it with its changed lock_timeout.
    connection.release(true);
  }
}

/** Detaches and drops one partition. Returns false if it is still being read. */
async function drop(connection: PoolClient, { name, parent, state }: DuePartition): Promise<boolean> {
  const detach = `alter table webhooks.${parent} detach partition webhooks.${name}`;
  try {
    if (state === 'ATTACHED') await connection.query(`${detach} concurrently`);
    if (state === 'DETACHING') await connection.query(`${detach} finalize`);
    await connection.query(`drop table webhooks.${name}`);
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

const nameOf = ({ name }: DuePartition) => name;
