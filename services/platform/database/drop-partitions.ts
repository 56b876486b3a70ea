import type { PoolClient } from 'pg';
import type { Database } from './database.ts';
import { isLockTimeout } from './database-errors.ts';
import { bindNamed, type NamedParameters } from './named-sql.ts';

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

/** How to find the partitions of a schema that have expired. */
export interface ExpiredPartitions {
  readonly schema: string;
  /**
   * Selects name, parent and state (ATTACHED, DETACHING or DETACHED). PostgreSQL detaches one partition of a parent at a
   * time, so those that an earlier run began to detach must come first.
   */
  readonly sql: string;
  readonly parameters: NamedParameters;
}

/** The state column, for a query of pg_class that left joins pg_inherits as `i`. */
export const PARTITION_STATE = `
  case when i.inhrelid is null then 'DETACHED' when i.inhdetachpending then 'DETACHING' else 'ATTACHED' end`;

/** For a transaction that is idle while partitions are dropped on another connection. */
export const ALLOW_IDLE_TRANSACTION = "set local idle_in_transaction_session_timeout = '1min'";

/** Short, because other queries queue behind this wait for the readers of a partition. */
const LOCK_TIMEOUT = '3s';

/**
 * Drops expired partitions. Detaches them concurrently first, so that readers and writers of the parent do not wait.
 * Continues after an interruption, and leaves partitions that are still being read for the next run.
 * @param endBy in the time of `performance.now()`, in milliseconds.
 */
export async function dropPartitions(
  database: Database,
  { schema, sql, parameters }: ExpiredPartitions,
  endBy: number,
): Promise<DroppedPartitions> {
  const connection = await database.connect();
  try {
    await connection.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
    const { rows } = await connection.query<DuePartition>(bindNamed(sql, parameters));
    const dropped: string[] = [];
    const waiting: DuePartition[] = [];
    for (const due of rows) {
      if (performance.now() > endBy) return { dropped, waiting: waiting.map(nameOf), more: true };
      const waits =
        waiting.some(({ parent }) => parent === due.parent) || !(await drop(connection, schema, due));
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
async function drop(
  connection: PoolClient,
  schema: string,
  { name, parent, state }: DuePartition,
): Promise<boolean> {
  const detach = `alter table ${schema}.${parent} detach partition ${schema}.${name}`;
  try {
    if (state === 'ATTACHED') await connection.query(`${detach} concurrently`);
    if (state === 'DETACHING') await connection.query(`${detach} finalize`);
    await connection.query(`drop table ${schema}.${name}`);
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

const nameOf = ({ name }: DuePartition) => name;
