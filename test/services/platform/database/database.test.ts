import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { isDatabaseUnavailable } from '../../../../services/platform/database/database-errors.ts';
import { queryBuilder } from '../../../../services/platform/reads/query-builder.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { portOf } from '../../../support/port-of.ts';
import { openSession } from '../../../support/sql.ts';

const POOL_SIZE = 2;
const db = queryBuilder<object>();
const url = await createTestDatabase();
const database = await openDatabase(url, { poolSize: POOL_SIZE });
const killer = await openSession(url);
afterAll(async () => {
  await killer.end();
  await database.close();
});

it('recovers all its connections after they died inside transactions', async () => {
  for (let round = 0; round < POOL_SIZE; round += 1) {
    const died = database.transaction(async (em) => {
      const [row] = await em.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
      await killer.query('select pg_terminate_backend($1)', [row!.pid]);
      await delay(50);
      await em.execute('select 1');
    });
    await expect(died).rejects.toThrow();
  }
  const answers = Array.from({ length: POOL_SIZE }, () =>
    database.transaction((em) => em.execute<{ one: number }[]>('select 1 as one, pg_sleep(0.05)')),
  );
  expect((await Promise.all(answers)).map(([row]) => row!.one)).toEqual([1, 1]);
});

it('reads the columns of each prepared statement on every connection', async () => {
  const one = db.selectNoFrom([sql<bigint>`7::int8`.as('count'), sql<null>`null`.as('nothing')]).compile();
  const two = db.selectNoFrom([sql<string>`'a'`.as('name'), sql<number>`2`.as('size')]).compile();
  const fails = db.selectNoFrom(sql<number>`1 / (random() * 0)::int`.as('count')).compile();
  for (let round = 0; round < 3; round += 1) {
    const reads = Array.from({ length: 2 * POOL_SIZE }, () => [database.read(one), database.read(two)]);
    await expect(database.read(fails)).rejects.toThrow('division by zero');
    expect(await Promise.all(reads.flat())).toEqual(
      reads.flatMap(() => [[{ count: 7n, nothing: null }], [{ name: 'a', size: 2 }]]),
    );
  }
});

it('reads timestamps to the millisecond', async () => {
  const at = fc.date({ min: new Date('1900-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  await fc.assert(
    fc.asyncProperty(fc.array(at, { maxLength: 200 }), async (dates) => {
      const texts = dates.map((date) => date.toISOString());
      const query = sql<{ at: Timestamp }>`select unnest(${texts}::timestamptz[]) as at`.compile(db);
      const rows = await database.read(query);
      expect(rows.map((row) => timestampDate(row.at))).toEqual(dates);
    }),
  );
});

it('connects for reads and writes as its URL says: with TLS, and to an IPv6 address', async () => {
  const first: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // A server without TLS refuses it with this.
    socket.once('data', (message) => first.push(message) && socket.write('N'));
  }).listen(0, '::1');
  const port = await portOf(server);
  const secure = await openDatabase(`postgres://u:p@[::1]:${port}/payments?sslmode=verify-full`);
  onTestFinished(async () => {
    await secure.close();
    server.close();
  });
  const refusal = 'does not support SSL';
  await expect(secure.read(db.selectNoFrom(sql<number>`1`.as('one')).compile())).rejects.toThrow(refusal);
  await expect(secure.transaction((em) => em.execute('select 1'))).rejects.toThrow(refusal);
  const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
  expect(first).toEqual([sslRequest, sslRequest]);
});

it('keeps its own server options beside those of its URL', async () => {
  const own = '-c timezone=America/Sao_Paulo -c application_name=mine';
  const other = await openDatabase(withParameter(await createTestDatabase(), 'options', own));
  onTestFinished(() => other.close());
  const settings = sql<string>`current_setting('timezone') || ' ' || current_setting('application_name')`;
  const read = db.selectNoFrom(settings.as('settings')).compile();
  expect(await other.read(read)).toEqual([{ settings: 'UTC mine' }]);
  expect(await other.transaction((em) => em.execute(read.sql))).toEqual([{ settings: 'UTC mine' }]);
});

function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}

it('reads without parallel workers', async () => {
  const workers = sql<string>`current_setting('max_parallel_workers_per_gather')`.as('workers');
  expect(await database.read(db.selectNoFrom(workers).compile())).toEqual([{ workers: '0' }]);
});

it('survives a connection that dies while its holder is between two statements', async () => {
  const connection = await database.connect();
  const { rows } = await connection
    .query<{ pid: number }>('begin; select pg_backend_pid() as pid')
    .then((results) => (results as unknown as { rows: { pid: number }[] }[])[1]!);
  await killer.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
  await delay(50);
  await expect(connection.query('select 1')).rejects.toThrow();
  connection.release();
  await database.ping();
});

// Both wait out timeouts of the database.
it.concurrent('reads while writes wait for a lock, which time out and release their connections', async () => {
  await killer.query('create table held ()');
  await killer.query('begin; lock table held');
  const stuck = Array.from({ length: POOL_SIZE }, () =>
    database.transaction((em) => em.execute('select from held')),
  );
  await database.ping();
  for (const outcome of await Promise.allSettled(stuck)) {
    expect(outcome.status).toBe('rejected');
    expect(isDatabaseUnavailable((outcome as PromiseRejectedResult).reason)).toBe(true);
  }
  await database.transaction((em) => em.execute('select 1'));
  await killer.query('rollback');
});

it.concurrent('closes even if a connection is never released', async () => {
  const url = await createTestDatabase();
  const leaking = await openDatabase(url, { poolSize: 1 });
  const kept = await leaking.connect();
  await leaking.close();
  kept.release(true);
});
