import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { isAccessRefused, isDatabaseFailing, isLockTimeout } from './database-errors.ts';
import { inTransaction } from './in-transaction.ts';
import { bindNamed } from './named-sql.ts';
import { sqlStatements } from './sql-statements.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
/** Held for the whole run, so that processes starting together apply each migration once. */
const ADVISORY_LOCK = 7_251_946_003;
/** Every statement on a table queues behind a migration that waits for its lock, so it waits only this long at a time. */
const LOCK_TIMEOUT = '2s';
const LOCK_TRIES = 60;
const RETRY_AFTER_MS = 1_000;
const LOCK_POLL_MS = 100;
const CONNECT_TIMEOUT_MS = 5_000;
/** The first line of a migration of one statement that PostgreSQL allows in no transaction, as `create index concurrently`. */
const NO_TRANSACTION = '-- no transaction';

const CREATE_TABLE = `
create table if not exists public.migration (
  name text primary key,
  -- Of the file as it was applied.
  sha256 text not null,
  applied_at timestamptz not null default now()
)`;

/** Left by a `create index concurrently` that failed, and skipped by `if not exists`. */
const INVALID_INDEXES = 'select indexrelid::regclass::text as name from pg_index where not indisvalid';

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/**
 * Applies the migrations that the database does not have yet, in the order of their names, each in its own
 * transaction, and returns their names. A migration that fails is rolled back and ends the run. A migration that
 * cannot get a lock within two seconds lets other statements pass and tries again, for a few minutes. Migrations that
 * only the database has are those of a newer release, which may run beside this one.
 * @param only names of the migrations to apply; all by default.
 * @throws if a migration fails, or was edited after it was applied.
 */
export async function migrate(databaseUrl: string, only?: readonly string[]): Promise<string[]> {
  const migrations = await readMigrations();
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // Its statements fail, too. Unhandled, the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await lock(client);
    await client.query(CREATE_TABLE);
    const { rows } = await client.query<Omit<Migration, 'sql'>>('select name, sha256 from public.migration');
    const applied = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
    const edited = migrations.find(({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256);
    if (edited) throw new Error(`migration ${edited.name} was edited after it was applied: add another one`);
    const pending = migrations.filter(({ name }) => !applied.has(name) && (only?.includes(name) ?? true));
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/**
 * Like `migrate`, but waits for a database that is away, out of resources or a standby, instead of failing: a machine may
 * start this process before PostgreSQL. Logs one line when the wait begins.
 */
export async function migrateOnceReachable(databaseUrl: string, logger: Logger): Promise<string[]> {
  for (let waits = false; ; waits = true) {
    try {
      return await migrate(databaseUrl);
    } catch (error) {
      // A wrong password at the start is mostly a mistake in the settings, which waiting would hide.
      if (!isDatabaseFailing(error) || isAccessRefused(error)) throw error;
      if (!waits)
        logger.warn({ reason: messageOf(error) }, 'PostgreSQL is unavailable; the process keeps trying');
      await delay(RETRY_AFTER_MS);
    }
  }
}

/**
 * Tries again and again, because a statement that waits for the lock holds a snapshot: `create index concurrently` in the
 * process that has the lock would wait for it in turn.
 */
async function lock(client: Client): Promise<void> {
  const tryLock = bindNamed('select pg_try_advisory_lock(:lock) as locked', { lock: ADVISORY_LOCK });
  while (!(await client.query<{ locked: boolean }>(tryLock)).rows[0]!.locked) await delay(LOCK_POLL_MS);
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, MIGRATIONS), 'utf8');
      return { name, sql, sha256: hash('sha256', sql) };
    }),
  );
}

async function apply(client: Client, migration: Migration): Promise<void> {
  const run = migration.sql.startsWith(NO_TRANSACTION) ? applyAlone : applyInTransaction;
  for (let tries = 1; ; tries++) {
    try {
      return await run(client, migration);
    } catch (error) {
      if (!isLockTimeout(error) || tries === LOCK_TRIES) {
        throw new Error(`migration ${migration.name} failed`, { cause: error });
      }
      await delay(RETRY_AFTER_MS);
    }
  }
}

function applyInTransaction(client: Client, migration: Migration): Promise<void> {
  return inTransaction(client, `begin; set local lock_timeout = '${LOCK_TIMEOUT}'`, async () => {
    // Citus takes changes of distributed tables only one by one.
    for (const statement of sqlStatements(migration.sql)) await client.query(statement);
    await recordApplied(client, migration);
  });
}

async function applyAlone(client: Client, migration: Migration): Promise<void> {
  await client.query(migration.sql);
  const { rows } = await client.query<{ name: string }>(INVALID_INDEXES);
  const [invalid] = rows;
  if (invalid) throw new Error(`index ${invalid.name} is invalid: drop it, then migrate again`);
  await recordApplied(client, migration);
}

const recordApplied = (client: Client, { name, sha256 }: Migration) =>
  client.query(
    bindNamed('insert into public.migration (name, sha256) values (:name, :sha256)', { name, sha256 }),
  );
