import { Client, Pool } from 'pg';

interface OfDatabase {
  readonly databaseUrl: string;
}

const pools = new Map<string, Pool>();

/** A pool per database: connections close when they are idle. */
export function poolOf({ databaseUrl }: OfDatabase): Pool {
  const kept = pools.get(databaseUrl);
  if (kept) return kept;
  const pool = new Pool({ connectionString: databaseUrl, max: 2, allowExitOnIdle: true });
  pool.on('error', () => undefined);
  pools.set(databaseUrl, pool);
  return pool;
}

/** Runs SQL directly on a harness's database. */
export async function sqlOf<Row extends object>(harness: OfDatabase, sql: string, values: unknown[] = []) {
  return (await poolOf(harness).query<Row>(sql, values)).rows;
}

/** The tables with any of these texts in any column, as text or as bytes. */
export async function tablesWith(harness: OfDatabase, texts: readonly string[]): Promise<string[]> {
  const tables = await sqlOf<{ name: string }>(
    harness,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const patterns = texts.flatMap((text) => [`%${text}%`, `%${Buffer.from(text).toString('hex')}%`]);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sqlOf(harness, `select from ${name} t where t::text like any ($1) limit 1`, [
      patterns,
    ]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/** The sessions of a harness's database that wait for a lock: the seconds since the transaction of each began. */
export async function lockWaits(harness: OfDatabase): Promise<number[]> {
  const rows = await sqlOf<{ seconds: number }>(
    harness,
    `select extract(epoch from clock_timestamp() - xact_start)::float8 as seconds from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.map(({ seconds }) => seconds);
}

/** Opens a connection for one session: a transaction, a lock, a listener. It may break meanwhile. */
export async function openSession(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => undefined) });
}

/**
 * Runs statements in a session of their own, one after the other.
 * @returns the rows of the last.
 */
// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
export async function query(url: string, ...statements: string[]): Promise<any[]> {
  await using session = await openSession(url);
  let rows: unknown[] = [];
  for (const statement of statements) ({ rows } = await session.query(statement));
  return rows;
}
