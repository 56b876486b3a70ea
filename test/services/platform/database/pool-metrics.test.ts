import { expect, it } from 'vitest';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { readMetrics } from '../../../support/scrape.ts';

async function readsConnections(state: string): Promise<number> {
  const prefix = `payments_database_connections{pool="reads",state="${state}"} `;
  const line = (await readMetrics()).split('\n').find((sample) => sample.startsWith(prefix));
  return Number(line?.slice(prefix.length) ?? 0);
}

it('the metrics show connections in use and callers that wait for one, until the pool ends', async () => {
  const url = await createTestDatabase();
  const [busy, waiting] = [await readsConnections('busy'), await readsConnections('waiting')];
  const database = await openDatabase(url, { poolSize: 1 });
  const held = await database.connect();
  const next = database.connect();
  expect([await readsConnections('busy'), await readsConnections('waiting')]).toEqual([
    busy + 1,
    waiting + 1,
  ]);
  held.release();
  (await next).release();
  await database.close();
  expect(await readsConnections('busy')).toBe(busy);
});
