import type { PoolClient } from 'pg';
import type { Database } from '../../platform/database/database.ts';
import { isLockTimeout } from '../../platform/database/database-errors.ts';
import { bindNamed } from '../../platform/database/named-sql.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

/** A partition that is on its way out, as far as an earlier run has come with it. */
interface DuePartition {
  readonly name: string;
  readonly parent: string;
  /** DETACHING: new queries no longer see it through its parent, earlier ones may still read it. */
  readonly state: 'ATTACHED' | 'DETACHING' | 'DETACHED';
}

interface DroppedPartitions {
  readonly dropped: readonly string[];
  /** Those that something reads. */
  readonly waiting: readonly string[];
  /** The time was up before all were tried. */
  readonly more: boolean;
}

/**
 * Partitions that begin before another does, by their names, which hold their first day. A parent detaches one at a
 * time, so what an earlier run has begun goes first; then the oldest, deliveries before their attempts.
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

/** Waits for readers of a partition to finish, without making others queue behind this wait. */
const LOCK_TIMEOUT = '3s';

/**
 * Drops the partitions of an environment that come before the one that begins with `firstKept`. Detached concurrently
 * first, so that no reader or writer of the parent waits; done again after any interruption, it goes on from where that
 * came. What something still reads is left for the next time.
 * @param endBy by `performance.now()`.
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
    // Closed, and its lock_timeout with it.
    connection.release(true);
  }
}

/** Takes one partition through the steps it has before it; false when something reads it. */
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
