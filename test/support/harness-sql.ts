import { Pool } from 'pg';
import type { TestHarness } from './harness.ts';

const pools = new Map<string, Pool>();

/** A pool per database: connections close when they are idle. */
export function poolOf({ databaseUrl }: Pick<TestHarness, 'databaseUrl'>): Pool {
  const kept = pools.get(databaseUrl);
  if (kept) return kept;
  const pool = new Pool({ connectionString: databaseUrl, max: 2, allowExitOnIdle: true });
  pool.on('error', () => undefined);
  pools.set(databaseUrl, pool);
  return pool;
}

/** The sessions of a harness's database that wait for a lock: the seconds since the transaction of each began. */
export async function lockWaits(harness: Pick<TestHarness, 'databaseUrl'>): Promise<number[]> {
  const rows = await sqlOf<{ seconds: number }>(
    harness,
    `select extract(epoch from clock_timestamp() - xact_start)::float8 as seconds from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.map(({ seconds }) => seconds);
}

/** Runs SQL directly on a harness's database. */
export async function sqlOf<Row extends object>(
  harness: Pick<TestHarness, 'databaseUrl'>,
  sql: string,
  values: unknown[] = [],
) {
  return (await poolOf(harness).query<Row>(sql, values)).rows;
}
