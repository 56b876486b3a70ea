import pg from 'pg';
import { median } from '../support/quantile.ts';

export const FEW_ROWS = 10_000;
/** `SIZE_ROWS` sets it. */
export const MANY_ROWS = Number(process.env.SIZE_ROWS ?? 10_000_000);
/** How often each of both reads is timed. */
export const ROUNDS = 1_001;
/** After this time, a tenth of the rounds is enough. */
const ENOUGH_MS = 10_000;
const WARM_UP_ROUNDS = 100;
const MOST_RATIO = 1.2;

/** Vacuums and analyzes, as autovacuum does in a database that has been running for a while. */
export async function prepareStatistics(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.end();
}

/**
 * The median milliseconds of a read of few rows and of the same read of many, and their ratio, as texts. Measured alternately,
 * so that a machine whose speed drifts favors neither.
 */
export async function compareSizes(few: () => Promise<unknown>, many: () => Promise<unknown>) {
  const times = { few: [] as number[], many: [] as number[] };
  const startedAt = performance.now();
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    if (round > ROUNDS / 10 && performance.now() - startedAt > ENOUGH_MS) break;
    const tookFew = await timed(few);
    const tookMany = await timed(many);
    if (round < 0) continue;
    times.few.push(tookFew);
    times.many.push(tookMany);
  }
  const [fewMs, manyMs] = [median(times.few), median(times.many)];
  const ratio = manyMs / fewMs;
  return {
    few: `${fewMs.toFixed(3)} ms`,
    many: `${manyMs.toFixed(3)} ms`,
    ratio: ratio.toFixed(2),
    verdict: ratio <= MOST_RATIO ? '' : `ABOVE ${MOST_RATIO}`,
  };
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}
