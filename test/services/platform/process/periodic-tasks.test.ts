import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { newKeyRings } from '../../../../local/generated-secrets.ts';
import { findFreePort } from '../../../../local/ports.ts';
import type { Database } from '../../../../services/platform/database/database.ts';
import { type PeriodicTask, PeriodicTasks } from '../../../../services/platform/process/periodic-tasks.ts';
import { metrics } from '../../../../services/platform/process/telemetry.ts';
import { expiredIdempotencyRecords } from '../../../../services/platform/writes/expired-idempotency-records.ts';
import { minutesAgo } from '../../../support/ago.ts';
import { createTestDatabase, startHarness } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { startRuntime } from '../../../support/runtime-process.ts';
import { scrape } from '../../../support/scrape.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';

const INTERVAL_MS = 20;
const LOGGER = pino({ level: 'silent' });

/** Runs these tasks until the test ends. */
function startTasks(database: Database, ...tasks: Omit<PeriodicTask, 'intervalMs'>[]): PeriodicTasks {
  const periodicTasks = new PeriodicTasks({
    database,
    tasks: tasks.map((task) => ({ ...task, intervalMs: INTERVAL_MS })),
    logger: LOGGER,
  });
  onTestFinished(() => periodicTasks.close());
  periodicTasks.start();
  return periodicTasks;
}

describe('periodic tasks', async () => {
  const url = await createTestDatabase();
  const database = await openDatabase(url);
  afterAll(() => database.close());

  it('run batch after batch while there is more to do, then wait, and count the rows', async () => {
    const steps: number[] = [];
    startTasks(database, {
      name: 'three-steps',
      async runBatch() {
        steps.push(performance.now());
        return { rows: 10, more: steps.length < 3 };
      },
    });
    await expect.poll(() => steps.length).toBeGreaterThanOrEqual(4);
    expect(steps[3]! - steps[2]!).toBeGreaterThanOrEqual(INTERVAL_MS / 2 - 1);
    const text = await metrics.metrics();
    const counted = /payments_maintenance_rows_total\{task="three-steps"\} (\d+)/.exec(text);
    expect(Number(counted?.[1])).toBeGreaterThanOrEqual(30);
    const succeeded = /last_success_timestamp_seconds\{task="three-steps"\} ([\d.]+)/.exec(text);
    expect(Date.now() / 1_000 - Number(succeeded?.[1])).toBeLessThan(10);
  });

  it('run in one of several processes at a time', async () => {
    const other = await openDatabase(url);
    onTestFinished(() => other.close());
    const done = [0, 0];
    let running = 0;
    let most = 0;
    const task = (process: 0 | 1): Omit<PeriodicTask, 'intervalMs'> => ({
      name: 'one-at-a-time',
      async runBatch(em) {
        running += 1;
        most = Math.max(most, running);
        await em.execute('select pg_sleep(0.03)');
        running -= 1;
        done[process]! += 1;
        return { rows: 1, more: false };
      },
    });
    startTasks(database, task(0));
    startTasks(other, task(1));
    await expect.poll(() => Math.min(...done), { timeout: 40_000 }).toBeGreaterThan(3);
    expect(most).toBe(1);
  });

  it('continue after one of them fails, and run it again', async () => {
    const earliest = Date.now() / 1_000;
    let tries = 0;
    const successor = vi.fn(async () => ({ rows: 0, more: false }));
    startTasks(
      database,
      {
        name: 'failing',
        async runBatch(em) {
          tries += 1;
          await em.execute('select 1 / 0');
          return { rows: 1, more: true };
        },
      },
      { name: 'successor', runBatch: successor },
    );
    const latest = Date.now() / 1_000;
    await expect.poll(() => Math.min(tries, successor.mock.calls.length)).toBeGreaterThan(2);
    const succeeded = (await scrape())(
      'payments_maintenance_last_success_timestamp_seconds{task="failing"}',
    )!;
    expect(succeeded).toBeGreaterThanOrEqual(earliest);
    expect(succeeded).toBeLessThanOrEqual(latest);
  });

  it('run again after a database outage, and log it', async () => {
    const warn = vi.spyOn(LOGGER, 'warn');
    onTestFinished(() => warn.mockRestore());
    const steps = vi.fn(async () => ({ rows: 1, more: false }));
    startTasks(database, { name: 'outage', runBatch: steps });
    await expect.poll(() => steps.mock.calls.length).toBeGreaterThan(0);
    const name = new URL(url).pathname.slice(1);
    await using server = await openSession(inject('postgresUrl'));
    await server.query(`alter database ${name} allow_connections false`);
    await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await expect.poll(() => warn.mock.calls.length).toBeGreaterThan(2);
    expect(warn.mock.lastCall?.[0]).toMatchObject({ task: 'outage' });
    steps.mockClear();
    await server.query(`alter database ${name} allow_connections true`);
    await expect.poll(() => steps.mock.calls.length).toBeGreaterThan(1);
  });

  it('finish the batch in progress when they are closed', async () => {
    let started = 0;
    let ended = 0;
    const { promise: hasStarted, resolve } = Promise.withResolvers<void>();
    const periodicTasks = startTasks(database, {
      name: 'endless',
      async runBatch(em) {
        started += 1;
        resolve();
        await em.execute('select pg_sleep(0.1)');
        ended += 1;
        return { rows: 1, more: true };
      },
    });
    await hasStarted;
    await periodicTasks.close();
    expect([started, ended]).toEqual([1, 1]);
    await delay(3 * INTERVAL_MS);
    expect(started).toBe(1);
  });

  it('close at once when they were never started', async () => {
    await new PeriodicTasks({ database, tasks: [], logger: LOGGER }).close();
  });
});

describe('expired idempotency records', async () => {
  let statements: string[] = [];
  const harness = await startHarness({ SERVICES: 'refunds' }, (sql) => statements.push(sql));
  const database = await openDatabase(harness.databaseUrl, { onStatement: (sql) => statements.push(sql) });
  afterAll(async () => {
    await database.close();
    await harness.close();
  });

  const sql = <Row extends object>(text: string, values: unknown[] = []) => sqlOf<Row>(harness, text, values);
  const add = (count: number, age: string) =>
    sql(
      `insert into platform.idempotency_record
         (merchant_id, environment, caller, method, key, request_hash, response, created_at)
       select gen_random_uuid(), 'live', 'test', 'm', n::text, '', repeat('x', 200)::bytea, now() - $2::interval - n * interval '1 ms'
         from generate_series(1, $1) as n`,
      [count, age],
    );
  const step = () => database.transaction((em) => expiredIdempotencyRecords.runBatch(em, database));
  const left = async () =>
    (await sql<{ n: number }>('select count(*)::int as n from platform.idempotency_record'))[0]!.n;
  const empty = () => sql('truncate platform.idempotency_record');

  it('are deleted in bounded batches; unexpired records stay', async () => {
    await empty();
    await add(3, '24 hours 1 second');
    await add(2_000, '3 days');
    await add(5, '23 hours 59 minutes');
    await add(5, '0 seconds');
    expect([await step(), await step(), await step()]).toEqual([
      { rows: 1_000, more: true },
      { rows: 1_000, more: true },
      { rows: 3, more: false },
    ]);
    expect(await left()).toBe(10);
    expect(await step()).toEqual({ rows: 0, more: false });
  });

  it.each([
    ['a minute’s worth', 500],
    ['a backlog', 10_000],
  ])('are found by the index on created_at among many others: %s', async (_what, expired) => {
    await empty();
    await add(10_000, '0 seconds');
    await add(expired, '24 hours');
    await sql('analyze platform.idempotency_record');
    statements = [];
    while ((await step()).more);
    const written = statements.find((statement) => statement.includes('delete from'))!;
    const statement = /delete from[\s\S]*skip locked\)\)/.exec(written)![0];
    const rows = await sql<{ 'QUERY PLAN': string }>(`explain ${statement}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Scan using idempotency_record_created_at');
    expect(plan).toContain('Tid Scan');
    expect(plan).not.toMatch(/Seq Scan|Sort|Bitmap/);
  });

  it('are skipped while a write renews them, without blocking', async () => {
    await empty();
    await add(2, '25 hours');
    await database.transaction(async (em) => {
      await em.execute("update platform.idempotency_record set created_at = now() where key = '1'");
      expect(await step()).toEqual({ rows: 1, more: false });
    });
    expect(await step()).toEqual({ rows: 0, more: false });
    expect(await left()).toBe(1);
  });

  it('have no effect before they are deleted, and no request deletes any', async () => {
    await empty();
    const { open: openCase, write } = refundsOf(harness);
    const request = {
      ...write(),
      paymentIntentId: randomUUID(),
      paidAt: minutesAgo(1),
    };
    const first = await openCase(request);
    expect((await openCase(request)).id).toBe(first.id);
    await sql("update platform.idempotency_record set created_at = now() - interval '24 hours'");
    statements = [];
    const other = { ...request, paymentIntentId: randomUUID() };
    const second = await openCase(other);
    expect(second.id).not.toBe(first.id);
    expect((await openCase(other)).id).toBe(second.id);
    expect(statements.some((statement) => statement.includes('platform.idempotency_record'))).toBe(true);
    expect(statements.filter((statement) => /\b(delete|truncate)\b/i.test(statement))).toEqual([]);
    expect(await step()).toEqual({ rows: 0, more: false });
  });

  it('are deleted by a services process, which logs and counts it and shuts down cleanly', async () => {
    await empty();
    await add(1_200, '25 hours');
    const ops = await findFreePort();
    const { child, exited, logged } = startRuntime('services/main.ts', {
      DATABASE_URL: harness.databaseUrl,
      SERVICES: 'catalog',
      GRPC_PORT: '0',
      OPS_PORT: String(ops),
      ...newKeyRings(),
    });
    await expect.poll(left, { timeout: 40_000, interval: 200 }).toBe(0);
    await expect.poll(logged).toMatch(/"task":"expired-idempotency-records","rows":1200,/);
    const text = await (await fetch(`http://127.0.0.1:${ops}/metrics`)).text();
    expect(text).toContain('payments_maintenance_rows_total{task="expired-idempotency-records"} 1200');
    expect(text).toContain('last_success_timestamp_seconds{task="expired-idempotency-records"} ');
    child.kill('SIGTERM');
    expect(await exited).toEqual({ exitCode: 0, stderr: '' });
  });
});
