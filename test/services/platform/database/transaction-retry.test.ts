import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { CrossTenantDatabase } from '../../../../services/platform/database/cross-tenant-database.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { openSession } from '../../../support/sql.ts';

const url = await createTestDatabase();
const database = await openDatabase(url, { poolSize: 10 });
const sql = await openSession(url);
await sql.query('create table counter (name text primary key, value int not null)');
beforeEach(() => sql.query("truncate counter; insert into counter values ('a', 0), ('b', 0)"));
afterAll(async () => {
  await sql.end();
  await database.close();
});

const values = async () =>
  (await sql.query<{ value: number }>('select value from counter order by name')).rows.map(
    (row) => row.value,
  );

it('retries deadlocks: of transactions that lock in opposite orders none fails and none is lost', async () => {
  const tries = { a: 0, b: 0 };
  let held = 0;
  const bothHoldOne = Promise.withResolvers<void>();
  const lock = (first: 'a' | 'b', second: 'a' | 'b') =>
    database.transaction(async (em) => {
      tries[first] += 1;
      await em.execute('update counter set value = value + 1 where name = ?', [first]);
      held += 1;
      if (held === 2) bothHoldOne.resolve();
      await bothHoldOne.promise;
      await em.execute('update counter set value = value + 1 where name = ?', [second]);
    });
  await Promise.all([lock('a', 'b'), lock('b', 'a')]);
  expect(await values()).toEqual([2, 2]);
  // A slow machine may choose both as victims.
  expect(tries.a + tries.b).toBeGreaterThan(2);
});

it.each(['40001', '40P01', '23505'])('gives up on %s after five tries, without effect', async (state) => {
  let tries = 0;
  const losing = database.transaction(async (em) => {
    tries += 1;
    await em.execute("update counter set value = value + 1 where name = 'a'");
    await em.execute(`do $$ begin raise exception using errcode = '${state}'; end $$`);
  });
  await expect(losing).rejects.toThrow();
  expect(tries).toBe(5);
  expect(await values()).toEqual([0, 0]);
});

it('does not retry permanent errors', async () => {
  let tries = 0;
  const refused = database.transaction(async (em) => {
    tries += 1;
    await em.execute("update counter set value = null where name = 'a'");
  });
  await expect(refused).rejects.toThrow('not-null');
  expect(tries).toBe(1);
});

it('sees the row of the transaction that inserted the key first', async () => {
  const claim = () =>
    database.transaction(async (em) => {
      const [row] = await em.execute<{ value: number }[]>("select value from counter where name = 'c'");
      if (row) return 'met';
      await delay(30);
      await em.execute("insert into counter values ('c', 1)");
      return 'made';
    });
  expect((await Promise.all(Array.from({ length: 5 }, claim))).sort()).toEqual([
    'made',
    ...Array(4).fill('met'),
  ]);
});

it('a statement that fails has released its locks when its error arrives', async () => {
  const db = new CrossTenantDatabase(database);
  const failing = {
    name: 'lock_and_fail',
    text: 'select pg_advisory_xact_lock(k), 1 / (2000 - k) from generate_series(1, 2000) k',
  };
  for (let round = 0; round < 30; round += 1) {
    await expect(db.run(failing)).rejects.toThrow('division by zero');
    // On another connection, so that PostgreSQL does not order the two.
    const { rows } = await sql.query('select pg_try_advisory_xact_lock(2000) as free');
    expect(rows).toEqual([{ free: true }]);
  }
});
