import { Socket } from 'node:net';
import type { PoolConfig } from 'pg';

/**
 * Settings of every connection. A write whose client is gone or that cannot get its lock releases its connection;
 * lock_timeout is longer than the deadline of public API calls. Transactions wait only for the database, so an idle one
 * belongs to a frozen process, whose locks would block others, including dispatch for all merchants.
 */
const SESSION_SETTINGS = [
  'timezone=UTC',
  'lock_timeout=15s',
  'client_connection_check_interval=1s',
  'idle_in_transaction_session_timeout=10s',
];

/**
 * Settings of connections for reads and dispatch, which use prepared statements with generic, index-based plans. A plan
 * chosen while a table was empty or had no statistics must still be right when the table is full. Without parallel workers: a
 * generic plan has them for pages of large tables, which take longer to start them than to read.
 */
const PREPARED_SETTINGS = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'jit=off',
  'max_parallel_workers_per_gather=0',
];

/**
 * A replica only replays locks of migrations, which are short; a read that has to wait for one asks the primary
 * instead.
 */
const REPLICA_SETTINGS = ['timezone=UTC', 'lock_timeout=1s', 'client_connection_check_interval=1s'];

/** Short enough that the primary can still answer, within the request's deadline, when a replica does not. */
const REPLICA_TIMEOUTS = { connectionTimeoutMillis: 1_000, query_timeout: 4_000 };

const serverOptions = (settings: readonly string[]) => settings.map((setting) => `-c ${setting}`).join(' ');

/** A URL with server options after its own, which they override. */
export function withOptions(url: string, options: string): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.set('options', given ? `${given} ${options}` : options);
  return parsed.href;
}

export const writeOptions = serverOptions(SESSION_SETTINGS);

export const readOptions = (preparedStatements: boolean): string =>
  serverOptions([...SESSION_SETTINGS, ...(preparedStatements ? PREPARED_SETTINGS : [])]);

/** Timeouts and server options of connections to a read replica. */
export const replicaOptions = (preparedStatements: boolean): PoolConfig => ({
  ...REPLICA_TIMEOUTS,
  options: serverOptions([...REPLICA_SETTINGS, ...(preparedStatements ? PREPARED_SETTINGS : [])]),
});

/**
 * Without this timeout TCP waits 15 minutes for a server that disappears silently, as after a network partition or a
 * failover, and all connections of a pool would hang that long. Keep-alive does not help while a statement is in flight.
 */
export function createSocket(maxSilenceMs: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(maxSilenceMs, () => {
    const message = `PostgreSQL has sent nothing for ${maxSilenceMs} ms`;
    socket.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  });
}
