import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

const IDLE_SECONDS = 10;

/** What a PostgreSQL has done since it started. */
export interface DatabaseWork {
  /** Committed transactions of the payments database. */
  readonly transactions: number;
  /** Each makes one or more commits durable. */
  readonly walFlushes: number;
}

const READ = `
select (select xact_commit from pg_stat_database where datname = current_database())::float8 as transactions,
       (select sum(fsyncs) from pg_stat_io where object = 'wal')::float8 as "walFlushes"`;

/** Reads the statistics, which sessions report about once a second. */
export async function databaseWork(databaseUrl: string): Promise<DatabaseWork> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    return (await client.query<DatabaseWork>(READ)).rows[0]!;
  } finally {
    await client.end();
  }
}

/** What a system that does nothing for anybody does per second. */
export async function idleWorkPerSecond(databaseUrl: string): Promise<DatabaseWork> {
  const before = await databaseWork(databaseUrl);
  await delay(IDLE_SECONDS * 1_000);
  const after = await databaseWork(databaseUrl);
  return {
    transactions: (after.transactions - before.transactions) / IDLE_SECONDS,
    walFlushes: (after.walFlushes - before.walFlushes) / IDLE_SECONDS,
  };
}
