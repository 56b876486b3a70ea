import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { ProblemCode } from '../../../gateway/problems/problem-types.ts';
import { temporaryDataFolder } from '../../local/temporary-data-folder.ts';
import { postgresVictim } from '../../reconciliation/victims.ts';
import { startStandby } from '../../support/base-backup.ts';
import { query } from '../../support/sql.ts';
import type { DatabaseClients } from './database-clients.ts';

/** A failure of PostgreSQL, and what its clients see in the meantime. */
export interface DatabaseFailure {
  readonly what: string;
  /** The outcome of a read and a write: success, or one of these codes. */
  readonly read: 'SUCCEEDS' | readonly ProblemCode[];
  readonly write: 'SUCCEEDS' | readonly ProblemCode[];
  /** What /readyz of the services says: its status and how it describes the database. */
  readonly ready: readonly [status: number, database?: string];
  /** Whether only root can cause this failure. */
  readonly mounts?: boolean;
  /** @returns how it ends. */
  begin(system: DatabaseClients): Promise<() => Promise<void>>;
}

const UNAVAILABLE = ['SERVICE_UNAVAILABLE'] as const;
/** Calls sent to a server that does not answer take until the deadline; later calls get no connection. */
const SILENT = ['DEADLINE_EXCEEDED', 'SERVICE_UNAVAILABLE'] as const;

/** Until the processes of the server have read their settings again. */
const RELOADED_MS = 500;

export const DATABASE_FAILURES: readonly DatabaseFailure[] = [
  { what: 'stopped', read: UNAVAILABLE, write: UNAVAILABLE, ready: [503], begin: stop },
  { what: 'slow', read: 'SUCCEEDS', write: 'SUCCEEDS', ready: [200, 'up'], begin: slowDown },
  { what: 'read-only', read: 'SUCCEEDS', write: UNAVAILABLE, ready: [200, 'read-only'], begin: makeReadOnly },
  { what: 'silent', read: SILENT, write: SILENT, ready: [503], begin: freeze },
  { what: 'unreachable', read: SILENT, write: SILENT, ready: [503], begin: dropPackets },
  {
    what: 'out of connections',
    read: UNAVAILABLE,
    write: UNAVAILABLE,
    ready: [503],
    begin: exhaustConnections,
  },
  {
    what: 'refusing the role',
    read: UNAVAILABLE,
    write: UNAVAILABLE,
    ready: [503],
    begin: refuseRole,
  },
  {
    what: 'out of disk',
    read: 'SUCCEEDS',
    write: UNAVAILABLE,
    ready: [200, 'up'],
    mounts: true,
    begin: fillDisk,
  },
  {
    what: 'unknown by its name',
    read: UNAVAILABLE,
    write: UNAVAILABLE,
    ready: [503],
    mounts: true,
    begin: breakNameResolution,
  },
  // The last one: what follows runs on the other server.
  {
    what: 'failed over to another address',
    read: UNAVAILABLE,
    write: UNAVAILABLE,
    ready: [503],
    begin: failOver,
  },
];

async function stop(system: DatabaseClients) {
  await system.postgres.stop();
  return () => system.startPostgres();
}

async function slowDown({ link }: DatabaseClients) {
  const end = link.begin('delay');
  return async () => end();
}

async function makeReadOnly({ postgres }: DatabaseClients) {
  const set = async (value: string) => {
    await query(
      postgres.url,
      `alter system set default_transaction_read_only = ${value}`,
      'select pg_reload_conf()',
    );
    await delay(RELOADED_MS);
  };
  await set('on');
  return () => set('default');
}

async function freeze({ postgres }: DatabaseClients) {
  const victim = postgresVictim(postgres);
  victim.signal('SIGSTOP');
  return async () => victim.signal('SIGCONT');
}

async function dropPackets({ link }: DatabaseClients) {
  const end = link.begin('drop');
  return async () => end();
}

/** Other clients took all connections when these had lost theirs. */
async function exhaustConnections({ postgres, link }: DatabaseClients) {
  const held: Client[] = [];
  const reconnect = link.begin('reset');
  const others = `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  while ((await query(postgres.url, others)).length > 0) await delay(20);
  for (let refused = false; !refused; ) {
    const client = new Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    refused = await client.connect().then(
      () => false,
      () => true,
    );
    if (!refused) held.push(client);
  }
  reconnect();
  return async () => {
    await Promise.all(held.map((client) => client.end()));
  };
}

/** The role of these clients was locked, as when its password is replaced, and they have lost their connections. */
async function refuseRole({ postgres }: DatabaseClients) {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('alter role current_user nologin');
  const others = `pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  await client.query(`select pg_terminate_backend(pid) from ${others}`);
  return async () => {
    await client.query('alter role current_user login');
    await client.end();
  };
}

/** Its clients have lost their connections, and its name cannot be resolved. */
async function breakNameResolution(system: DatabaseClients) {
  system.knowName(false);
  system.link.begin('reset')();
  return async () => system.knowName(true);
}

/** Nothing is left for tables; the file of the WAL that is being written was made before. */
async function fillDisk({ postgres, folder }: DatabaseClients) {
  await query(
    postgres.url,
    // So that the next row needs its own page.
    'alter table platform.idempotency_record set (fillfactor = 10)',
    'select pg_switch_wal()',
    'checkpoint',
  );
  const ballast = folder.file('ballast');
  const file = openSync(ballast, 'w');
  for (const size of [1 << 20, 1 << 12]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  closeSync(file);
  return async () => rmSync(ballast);
}

/**
 * The primary is killed, and its address then leads to a standby that is promoted a moment later. What is asked for in between
 * reaches a standby.
 */
async function failOver(system: DatabaseClients) {
  const { postgres: primary } = system;
  const data = system.stack.use(temporaryDataFolder());
  const standby = await startStandby(primary, system.folder, data.folder);
  system.stack.defer(() => standby.stop());
  const [{ lsn }] = await query(primary.url, 'select pg_current_wal_flush_lsn() as lsn');
  for (;;) {
    const [{ caughtUp }] = await query(
      standby.url,
      `select pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn as "caughtUp"`,
    );
    if (caughtUp) break;
    await delay(50);
  }
  await primary.stop();
  system.link.leadTo(standby.port);
  return async () => {
    await query(standby.url, 'select pg_promote()');
  };
}
