import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import { pino } from 'pino';
import { afterAll, expect, it, vi } from 'vitest';
import { Database } from '../../../../services/platform/database/database.ts';
import { isDatabaseUnavailable } from '../../../../services/platform/database/database-errors.ts';
import { OutboxSignal } from '../../../../services/platform/outbox/outbox-signal.ts';
import { openLink } from '../../../reconciliation/faulty-link.ts';
import { createTestDatabase } from '../../../support/harness.ts';

/** Enough for short reads to share a connection. */
const POOL_SIZE = 4;
const MAX_SILENCE_MS = 2_000;

const url = new URL(await createTestDatabase());
const options = {
  poolSize: POOL_SIZE,
  preparedStatements: true,
  entities: [],
  maxSilenceMs: MAX_SILENCE_MS,
};
const elsewhere = await Database.open({ ...options, url: url.href });
const link = await openLink(Number(url.port));
url.port = `${link.port}`;
url.hostname = '127.0.0.1';
const open = (poolSize: number, maxSilenceMs = MAX_SILENCE_MS) =>
  Database.open({ ...options, poolSize, maxSilenceMs, url: url.href });
const database = await open(POOL_SIZE);
afterAll(async () => {
  await database.close();
  await elsewhere.close();
  await link[Symbol.asyncDispose]();
});

function recordedLog() {
  const lines: string[] = [];
  return { lines, logger: pino({}, { write: (line) => void lines.push(line) }) };
}

it('abandons a server that stops sending, and recovers all its connections', async () => {
  const reads = () =>
    Array.from({ length: POOL_SIZE }, () => [
      database.read(CompiledQuery.raw('select 1')),
      database.readOne(CompiledQuery.raw('select 1')),
    ]).flat();
  const writes = () =>
    Array.from({ length: POOL_SIZE }, () =>
      database.transaction((em) => em.execute('select pg_sleep(0.05)')),
    );
  await Promise.all([...reads(), ...writes()]);
  const end = link.begin('drop');
  for (const outcome of await Promise.allSettled([...reads(), ...writes()])) {
    expect(outcome.status).toBe('rejected');
    expect(isDatabaseUnavailable((outcome as PromiseRejectedResult).reason)).toBe(true);
  }
  end();
  await Promise.all([...reads(), ...writes()]);
  expect(await database.ping()).toBe('up');
});

it('fails probes of a silent server in time, and uses one connection for all of them', async () => {
  const patient = await open(2, 60_000);
  await patient.ping();
  const end = link.begin('drop');
  const probes = await Promise.allSettled(Array.from({ length: 10 }, () => patient.ping()));
  expect(probes.map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  end();
  await patient.read(CompiledQuery.raw('select 1'));
  await patient.close();
});

it('survives the closing of idle connections', async () => {
  await database.ping();
  await delay(1.5 * MAX_SILENCE_MS);
  await database.ping();
});

it('listens for work for longer than a server may be silent, and through a silence', async () => {
  const { lines, logger } = recordedLog();
  const [work, sender] = [new OutboxSignal(database, logger), new OutboxSignal(elsewhere, logger)];
  const stop = new AbortController();
  let polls = 0;
  const waiting = work.await({ work: 'EVENTS', waitMs: 60_000, signal: stop.signal }, async () => {
    polls += 1;
    return { found: undefined, pollMs: 60_000 };
  });
  const expectNotification = async () => {
    const before = polls;
    sender.committed('EVENTS');
    await expect.poll(() => polls, { timeout: 5_000 }).toBeGreaterThan(before);
  };
  await delay(1.5 * MAX_SILENCE_MS);
  await expectNotification();
  expect(lines).toEqual([]);
  const end = link.begin('drop');
  await expect.poll(() => lines.join(''), { timeout: 40_000 }).toContain('listening for work failed');
  end();
  // A notification before the listener is back is lost, so it is sent repeatedly.
  await vi.waitFor(expectNotification, { timeout: 60_000 });
  stop.abort();
  await waiting;
});

it('releases a connection on which LISTEN failed', async () => {
  const { lines, logger } = recordedLog();
  const single = await open(1);
  const work = new OutboxSignal(single, logger);
  await single.ping();
  const end = link.begin('drop');
  const stop = new AbortController();
  const look = async () => ({ found: undefined, pollMs: 60_000 });
  const waiting = work.await({ work: 'EVENTS', waitMs: 60_000, signal: stop.signal }, look);
  await expect.poll(() => lines.join('')).toContain('listening for work failed');
  stop.abort();
  await waiting;
  end();
  await single.ping();
  await single.close();
});
