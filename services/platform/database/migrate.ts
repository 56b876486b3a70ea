import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { bindNamed } from './named-sql.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
/** Held for the whole run, so that processes starting together apply each migration once. */
const ADVISORY_LOCK = 7_251_946_003;

/**
 * Applies the migrations that the database does not have yet, in the order of their names, each in its own transaction,
 * and returns their names. A migration that fails is rolled back and ends the run.
 * @param only names of the migrations to apply; all by default.
 */
export async function migrate(databaseUrl: string, only?: readonly string[]): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(bindNamed('select pg_advisory_lock(:lock)', { lock: ADVISORY_LOCK }));
    await client.query(
      'create table if not exists public.migration (name text primary key, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from public.migration');
    const applied = new Set(rows.map(({ name }) => name));
    const pending = (await readdir(MIGRATIONS))
      .filter((name) => name.endsWith('.sql') && !applied.has(name) && (only?.includes(name) ?? true))
      .sort();
    for (const name of pending) await apply(client, name);
    return pending;
  } finally {
    await client.end();
  }
}

async function apply(client: Client, name: string): Promise<void> {
  const sql = await readFile(new URL(name, MIGRATIONS), 'utf8');
  try {
    await client.query('begin');
    await client.query(sql);
    await client.query(bindNamed('insert into public.migration (name) values (:name)', { name }));
    await client.query('commit');
  } catch (error) {
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}
