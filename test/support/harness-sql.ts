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

/** Runs SQL on a harness's database, past the services. */
export async function sqlOf<Row extends object>(
  harness: Pick<TestHarness, 'databaseUrl'>,
  sql: string,
  values: unknown[] = [],
) {
  return (await poolOf(harness).query<Row>(sql, values)).rows;
}
