import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { pino } from 'pino';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { AccountWrites } from '../../../services/funds/account-writes.ts';
import { Database } from '../../../services/platform/database/database.ts';
import { OutboxSignal } from '../../../services/platform/outbox/outbox-signal.ts';
import { PersonCheck } from '../../../services/platform/people/person-check.ts';
import { backgroundContext } from '../../../services/platform/rpc/call-context.ts';
import { tenantOf } from '../../../services/platform/tenant.ts';
import { Writes } from '../../../services/platform/writes/writes.ts';
import { openLink } from '../../reconciliation/faulty-link.ts';
import { startHarness } from '../../support/harness.ts';
import { median } from '../../support/quantile.ts';
import { lockWaits, openSession } from '../../support/sql.ts';
import { type FundsCaller, fundsCaller } from './funds-caller.ts';

const POOL_SIZE = 5;
const CALLS = 20;
/** Several times as long as a call waits for a lock before it releases its connection. */
const LOCKED_MS = 3_000;
/** A second on a machine that does nothing else; a call that does not queue waits for a lock for 15. */
const SOON_MS = 5_000;

const settings = { SERVICES: 'funds', DATABASE_POOL_SIZE: String(POOL_SIZE) };
const harness = await startHarness(settings);
const other = await startHarness(settings, undefined, harness.databaseUrl);
afterAll(() => Promise.all([harness.close(), other.close()]));

let funds: FundsCaller;
beforeEach(async () => {
  funds = fundsCaller(harness.transports.grpc);
  await funds.sell({ gross: 1_000n });
});

/** Locks the row of the account from another session until disposed. */
async function lockAccount() {
  const session = await openSession(harness.databaseUrl);
  await session.query('begin');
  await session.query('select from funds.account where merchant_id = $1 for update', [
    funds.tenant.merchantId,
  ]);
  return session;
}

it('calls on a locked account leave other accounts and reads answered soon, and then succeed', async () => {
  const { transports } = harness;
  const calls: Promise<unknown>[] = [];
  const tookMs: number[] = [];
  {
    await using _ = await lockAccount();
    for (let n = 0; n < CALLS; n += 1) calls.push(funds.deduct(10n));
    await expect.poll(() => lockWaits(harness), { interval: 20 }).not.toEqual([]);
    for (let round = 0; round < 3; round += 1) {
      const others = Array.from({ length: POOL_SIZE }, () => fundsCaller(transports.grpc));
      const startedAt = performance.now();
      await Promise.all([funds.balance(), ...others.map((each) => each.sell({ gross: 100n }))]);
      tookMs.push(performance.now() - startedAt);
      await delay(300);
    }
  }
  // The median, because other processes may slow one round down.
  expect(median(tookMs)).toBeLessThan(SOON_MS);
  await Promise.all(calls);
  expect(await funds.balance()).toMatchObject({ scheduledAmountMinor: 1_000n - 10n * BigInt(CALLS) });
});

it('each process waits with one connection, which it soon releases', async () => {
  const elsewhere = fundsCaller(other.transports.grpc, funds.tenant);
  const calls: Promise<unknown>[] = [];
  const seen: number[][] = [];
  {
    await using _ = await lockAccount();
    for (let n = 0; n < CALLS; n += 1) calls.push((n % 2 ? funds : elsewhere).deduct(10n));
    // By time: a slow machine must not hold the account for longer than calls wait for it.
    const until = performance.now() + LOCKED_MS;
    while (performance.now() < until) {
      seen.push(await lockWaits(harness));
      await delay(50);
    }
  }
  await Promise.all(calls);
  expect(Math.max(...seen.map((waiting) => waiting.length))).toBe(2);
  expect(Math.max(...seen.flat()) * 1_000).toBeLessThan(SOON_MS);
  expect(await funds.balance()).toMatchObject({ scheduledAmountMinor: 1_000n - 10n * BigInt(CALLS) });
});

it('a call whose deadline passes leaves the queue without a trace, and the calls behind it succeed', async () => {
  let behind: Promise<unknown>;
  {
    await using _ = await lockAccount();
    const late = Array.from({ length: 10 }, () =>
      funds.client.recordSale(
        { ...funds.write(), saleId: crypto.randomUUID(), method: 2, grossAmountMinor: 100n, installments: 1 },
        { timeoutMs: 300 },
      ),
    );
    behind = funds.deduct(10n);
    const ended = await Promise.allSettled(late);
    const codes = ended.map((end) => (end.status === 'rejected' ? end.reason.code : undefined));
    expect(new Set(codes)).toEqual(new Set([Code.DeadlineExceeded]));
  }
  await behind;
  expect(await funds.balance()).toMatchObject({ scheduledAmountMinor: 990n });
});

it('a call that has waited too long blames the calls before it, or a database that does not answer them', async () => {
  const url = new URL(harness.databaseUrl);
  const link = await openLink(Number(url.port));
  onTestFinished(() => link[Symbol.asyncDispose]());
  url.host = `127.0.0.1:${link.port}`;
  const options = { poolSize: POOL_SIZE, preparedStatements: true, entities: [], maxSilenceMs: 6_000 };
  const database = await Database.open({ ...options, url: url.href });
  onTestFinished(() => database.close());
  const people = new PersonCheck(database, 60_000);
  const logger = pino({ level: 'silent' });
  const signal = new OutboxSignal(database, logger);
  const writes = new AccountWrites(new Writes(database, signal, people, logger), database, 300);
  const context = { ...backgroundContext('test'), signal: new AbortController().signal };
  const write = (seconds: number) =>
    writes.transaction(tenantOf(funds.tenant), context, (_tx, em) =>
      em.execute(`select pg_sleep(${seconds})`),
    );
  const busy = write(1);
  await expect(write(0)).rejects.toMatchObject({ kind: 'ABORTED', reason: 'ACCOUNT_BUSY' });
  await busy;
  link.begin('drop');
  const silent = expect(write(0)).rejects.toThrow();
  await expect(write(0)).rejects.toMatchObject({ kind: 'UNAVAILABLE', reason: 'DATABASE_UNAVAILABLE' });
  await silent;
}, 20_000);
