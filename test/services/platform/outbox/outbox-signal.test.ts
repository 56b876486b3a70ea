import { EventEmitter } from 'node:events';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../../../services/platform/database/database.ts';
import {
  EVENTS_CHANNEL,
  OUTBOX_CHANNEL,
  OutboxSignal,
  type OutboxWork,
} from '../../../../services/platform/outbox/outbox-signal.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { openSession } from '../../../support/sql.ts';

const payloads: string[] = [];
const logger = createLogger('fatal');
const url = await createTestDatabase();
const database = await openDatabase(url, { poolSize: 4 });
const listener = await openSession(url);
listener.on('notification', ({ payload = '' }) => payloads.push(payload));
await listener.query(`listen ${OUTBOX_CHANNEL}; listen ${EVENTS_CHANNEL}`);
afterAll(async () => {
  await listener.end();
  await database.close();
});

/** The connections that have executed LISTEN. */
async function listeners(): Promise<number> {
  const { rows } = await listener.query(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and query like 'listen %' and state = 'idle' and pid <> pg_backend_pid()`,
  );
  return rows[0].count;
}

/** Counts how often a signal wakes those who wait for events and for commands. */
function countWakes(signal: OutboxSignal) {
  const wakes = { EVENTS: 0, COMMANDS: 0 };
  for (const work of ['EVENTS', 'COMMANDS'] as const) {
    onTestFinished(
      signal.subscribe(work, () => {
        wakes[work] += 1;
      }),
    );
  }
  return wakes;
}

it('signals each commit at once in this process, and to others what was committed since the last notification', async () => {
  const [signal, elsewhere] = [new OutboxSignal(database, logger), new OutboxSignal(database, logger)];
  const [here, there] = [countWakes(signal), countWakes(elsewhere)];
  await expect.poll(listeners).toBe(2);
  signal.committed('EVENTS');
  signal.committed('COMMANDS');
  signal.committed('EVENTS');
  expect(here).toEqual({ EVENTS: 3, COMMANDS: 1 });
  await expect.poll(() => there).toEqual({ EVENTS: 1, COMMANDS: 1 });
  signal.committed('EVENTS');
  await expect.poll(() => there).toEqual({ EVENTS: 2, COMMANDS: 1 });
  await delay(50);
  expect(payloads).toHaveLength(2);
  expect(here).toEqual({ EVENTS: 4, COMMANDS: 1 });
});

it('sends notifications of events only to processes that wait for events', async () => {
  const [signal, elsewhere] = [new OutboxSignal(database, logger), new OutboxSignal(database, logger)];
  const onNotification = vi.fn();
  const connect = database.connect.bind(database);
  vi.spyOn(database, 'connect').mockImplementationOnce(async () =>
    (await connect()).on('notification', onNotification),
  );
  const [commands, events] = [vi.fn(), vi.fn()];
  const untilWoken = (work: OutboxWork, wake: typeof events) =>
    expect
      .poll(() => {
        signal.committed(work);
        return wake.mock.calls.length;
      })
      .toBeGreaterThan(0);
  onTestFinished(elsewhere.subscribe('COMMANDS', commands));
  await untilWoken('COMMANDS', commands);
  await delay(50);
  onNotification.mockClear();
  signal.committed('EVENTS');
  await delay(50);
  expect(onNotification).not.toHaveBeenCalled();
  onTestFinished(elsewhere.subscribe('EVENTS', events));
  await untilWoken('EVENTS', events);
});

it('notifies other processes of a commit at once, and of those that follow it in intervals', async () => {
  let notifications = 0;
  const query = async () => {
    notifications += 1;
  };
  const counting = { connect: async () => ({ query, release: () => undefined }) } as unknown as Database;
  const signal = new OutboxSignal(counting, logger);
  const startedAt = performance.now();
  signal.committed('EVENTS');
  await nextTurn();
  await nextTurn();
  expect(notifications).toBe(1);
  while (performance.now() - startedAt < 100) {
    signal.committed('EVENTS');
    await nextTurn();
  }
  await delay(20);
  expect(notifications).toBeGreaterThan(2);
  // A timer of 5 ms may end up to one early.
  expect(notifications).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / 4);
});

it('logs an outage of the database once, however often it tries to listen again', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isAway = true;
  let connection = new EventEmitter();
  const connect = async () => {
    if (isAway) throw new Error('connect ECONNREFUSED');
    connection = Object.assign(new EventEmitter(), {
      query: async () => undefined,
      release: () => undefined,
    });
    return connection;
  };
  const warn = vi.fn();
  const away = { connect, maxSilenceMs: 75_000 } as unknown as Database;
  onTestFinished(new OutboxSignal(away, { warn } as unknown as Logger).subscribe('EVENTS', () => undefined));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(warn).toHaveBeenCalledOnce();
  isAway = false;
  await vi.advanceTimersByTimeAsync(2_000);
  connection.emit('error', new Error('Connection terminated unexpectedly'));
  expect(warn).toHaveBeenCalledTimes(2);
});

it('polls once in a wait without a signal that is no longer than the interval of polls', async () => {
  const { signal: running } = new AbortController();
  const poll = vi.fn(async () => ({ found: undefined, pollMs: 100 }));
  await new OutboxSignal(database, logger).await({ work: 'COMMANDS', waitMs: 100, signal: running }, poll);
  expect(poll).toHaveBeenCalledOnce();
});
