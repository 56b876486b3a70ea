import { setTimeout as delay } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import type { Database } from '../../../../services/platform/database/database.ts';
import { prepareRead } from '../../../../services/platform/reads/prepared-read.ts';
import { queryBuilder } from '../../../../services/platform/reads/query-builder.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { openSession, query } from '../../../support/sql.ts';

const POOL_SIZE = 8;
const MAX_SHARED = 32;
const SLOW_SECONDS = 3;
/** By then a connection that has answered nothing counts as slow. */
const NOTICED_MS = 200;

const opened: Database[] = [];

const url = await createTestDatabase();
const database = await open(POOL_SIZE);
afterAll(() => Promise.all(opened.map((each) => each.close())));

async function open(poolSize: number): Promise<Database> {
  const each = await openDatabase(url, { poolSize });
  opened.push(each);
  return each;
}

interface Answer {
  readonly n: number;
  readonly pid: number;
}

const db = queryBuilder<object>();
const readingAfter = (work: RawBuilder<unknown>) =>
  prepareRead<{ readonly n: number }, Answer>((parameters) =>
    db
      .selectNoFrom([
        sql<number>`${parameters('n')}::int`.as('n'),
        sql<number>`pg_backend_pid()`.as('pid'),
        work.as('work'),
      ])
      .compile(),
  );
const fast = readingAfter(sql`null`);
const brief = readingAfter(sql`pg_sleep(0.005)::text`);
const slow = readingAfter(sql`pg_sleep(${sql.lit(SLOW_SECONDS)})::text`);
/** Longer than a busy machine takes to end it. */
const unending = readingAfter(sql`pg_sleep(60)::text`);
const inverse = prepareRead<{ readonly n: number }, Answer>((parameters) =>
  db
    .selectNoFrom([sql<number>`1 / ${parameters('n')}::int`.as('n'), sql<number>`pg_backend_pid()`.as('pid')])
    .compile(),
);

const fromLocked = prepareRead<{ readonly n: number }, Answer>((parameters) =>
  db
    .selectNoFrom([
      sql<number>`${parameters('n')}::int`.as('n'),
      sql<number>`(select pid from locked)`.as('pid'),
    ])
    .compile(),
);

/** Locks a new table. */
async function lockTable(name: string) {
  const client = await openSession(url);
  await client.query(`create table ${name} (pid int)`);
  await client.query(`begin; lock table ${name}`);
  const waiting = `from pg_locks where relation = '${name}'::regclass and not granted`;
  const count = async (select: string) => (await client.query<{ n: number }>(`select ${select}`)).rows[0]!.n;
  return {
    countWaiting: () => count(`count(*)::int as n ${waiting}`),
    /** Cancels the two statements that wait for the lock, once there are two. */
    cancelWaiting: () =>
      count(`count(pg_cancel_backend(pid))::int as n ${waiting} and (select count(*) ${waiting}) = 2`),
    unlock: () => client.query('commit'),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

it('answers concurrent short reads on two connections, each with its own row or error', async () => {
  const answers = await Promise.all(numbers(MAX_SHARED).map((n) => database.readOne(fast({ n }))));
  expect(answers.map((answer) => answer!.n)).toEqual(numbers(MAX_SHARED));
  expect(new Set(answers.map((answer) => answer!.pid)).size).toBe(2);
  const mixed = await Promise.allSettled(numbers(20).map((n) => database.readOne(inverse({ n: n % 5 }))));
  for (const [at, outcome] of mixed.entries()) {
    if (at % 5 === 0) expect(String((outcome as PromiseRejectedResult).reason)).toContain('division by zero');
    else expect(outcome).toMatchObject({ status: 'fulfilled', value: { n: at % 5 === 1 ? 1 : 0 } });
  }
});

it('uses the whole pool once many short reads wait', async () => {
  const answers = await Promise.all(numbers(3 * MAX_SHARED).map((n) => database.readOne(brief({ n }))));
  expect(answers.map((answer) => answer!.n)).toEqual(numbers(3 * MAX_SHARED));
  expect(new Set(answers.map((answer) => answer!.pid)).size).toBe(POOL_SIZE);
});

it('closes a connection on which a statement has failed', async () => {
  const fresh = await open(POOL_SIZE);
  const before = await fresh.readOne(fast({ n: 1 }));
  await expect(fresh.readOne(inverse({ n: 0 }))).rejects.toThrow('division by zero');
  const after = await fresh.readOne(fast({ n: 2 }));
  expect(after).toMatchObject({ n: 2 });
  expect(after!.pid).not.toBe(before!.pid);
});

it('answers the reads behind one whose statement could not be prepared', async () => {
  const fresh = await open(POOL_SIZE);
  await using locker = await lockTable('locked');
  const reads = Promise.allSettled(numbers(4).map((n) => fresh.readOne(fromLocked({ n }))));
  await expect.poll(() => locker.cancelWaiting()).toBe(2);
  await expect.poll(() => locker.countWaiting()).toBe(2);
  await locker.unlock();
  const outcomes = (await reads).map(({ status }) => status);
  expect(outcomes).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
});

it('does not send short reads behind slow ones', async () => {
  let slowAnswers = 0;
  const stuck = numbers(2).map(async (n) => {
    await database.readOne(slow({ n }));
    slowAnswers += 1;
  });
  await delay(NOTICED_MS);
  const answers = await Promise.all(numbers(20).map((n) => database.readOne(fast({ n }))));
  expect(answers.map((answer) => answer!.n)).toEqual(numbers(20));
  expect(slowAnswers).toBe(0);
  await Promise.all(stuck);
});

it('fails the reads of a connection that dies, and replaces it', async () => {
  for (let round = 0; round < POOL_SIZE; round += 1) {
    const died = numbers(10).map((n) => database.readOne(unending({ n })));
    const failed = Promise.allSettled(died);
    await expect
      .poll(() =>
        query(
          url,
          `with busy as materialized (
             select pid from pg_stat_activity
              where datname = current_database() and state = 'active' and pid <> pg_backend_pid())
           select count(pg_terminate_backend(pid))::int as ended from busy where (select count(*) from busy) = 2`,
        ),
      )
      .toEqual([{ ended: 2 }]);
    expect((await failed).map(({ status }) => status)).toEqual(numbers(10).map(() => 'rejected'));
  }
  const answers = await Promise.all(numbers(20).map((n) => database.readOne(fast({ n }))));
  expect(answers.map((answer) => answer!.n)).toEqual(numbers(20));
});

it('leaves a connection for other callers beside many concurrent short reads', async () => {
  const small = await open(4);
  let isConnected = false;
  const readers = numbers(20).map(async (n) => {
    while (!isConnected) await small.readOne(brief({ n }));
  });
  // Each starts again as soon as it is answered, so that some are always waiting.
  await delay(NOTICED_MS);
  const connection = await small.connect();
  isConnected = true;
  await Promise.all(readers);
  connection.release();
});
