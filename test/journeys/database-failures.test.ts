import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROBLEM_TYPES } from '../../gateway/problems/problem-types.ts';
import { WebhookSubscriptionState } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Answer } from '../gateway/http-call.ts';
import { newKey } from '../support/harness.ts';
import { DatabaseClients } from './failures/database-clients.ts';
import { DATABASE_FAILURES, type DatabaseFailure } from './failures/database-failures.ts';

const SUBSCRIPTIONS = '/v1/webhook-subscriptions';
/** The deadline of a call for a request is ten seconds; a full machine needs more. */
const ANSWERED_WITHIN_MS = 12_000;
/** Load balancers do not wait longer for a probe. */
const PROBED_WITHIN_MS = 4_000;
const RECOVERED = { timeout: 30_000, interval: 200 };

let system: DatabaseClients;
let shop: Awaited<ReturnType<DatabaseClients['merchant']>>;
beforeAll(async () => {
  system = await DatabaseClients.start();
  shop = await system.merchant();
  await shop.merchant.becomes(WebhookSubscriptionState.ACTIVE);
}, 120_000);
afterAll(() => system?.[Symbol.asyncDispose]());

const read = () => system.call(SUBSCRIPTIONS, { key: shop.key });

/** Creates a subscription that no other request creates, as often as it is called. */
function newWrite() {
  const url = `https://shop.example/${newKey()}`;
  const headers = { 'idempotency-key': newKey() };
  const body = { url, eventTypes: ['refund.requested.v1'] };
  return {
    send: () => system.call(SUBSCRIPTIONS, { key: shop.key, headers, body }),
    /** How many it has created. */
    async count(): Promise<number> {
      const { json } = await system.call(`${SUBSCRIPTIONS}?limit=100`, { key: shop.key });
      return json.data.filter((item: { url: string }) => item.url === url).length;
    },
  };
}

type Write = ReturnType<typeof newWrite>;

/** The lines about calls and requests that have a stack, although the database is at fault. */
const stacks = () =>
  system.processes
    .flatMap(({ logged }) => logged().split('\n'))
    .filter((line) => line.includes('"requestId"') && line.includes('"stack"'));

async function expectWithin<T>(ms: number, call: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await call();
  expect(performance.now() - startedAt).toBeLessThan(ms);
  return result;
}

function expectAnswer(answer: Answer, expected: DatabaseFailure['read'], success: number): void {
  if (expected === 'SUCCEEDS') {
    expect(answer.status).toBe(success);
    return;
  }
  expect(expected).toContain(answer.json.code);
  expect(answer.status).toBe(PROBLEM_TYPES[answer.json.code as (typeof expected)[number]].status);
  if (answer.status === 503) expect(answer.headers['retry-after']).toMatch(/^[1-5]$/);
}

async function expectDuringFailure(
  { read: expectedRead, write: expectedWrite, ready }: DatabaseFailure,
  write: Write,
) {
  const ask = () => Promise.all([read(), write.send()]);
  const [readAnswer, writeAnswer] = await expectWithin(ANSWERED_WITHIN_MS, ask);
  expectAnswer(readAnswer, expectedRead, 200);
  expectAnswer(writeAnswer, expectedWrite, 201);
  const { services, gateway } = await expectWithin(PROBED_WITHIN_MS, () => system.readiness());
  const [status, database] = ready;
  expect([services.status, gateway.status]).toEqual([status, status]);
  expect(services.json.database).toBe(database);
}

it.for(DATABASE_FAILURES)(
  'with PostgreSQL $what, requests are answered in time, and everything recovers without a restart',
  async (failure, { skip }) => {
    skip(failure.mounts === true && !system.canMount, 'only root can mount what it needs');
    const before = await shop.merchant.publish();
    const write = newWrite();
    const end = await failure.begin(system);
    try {
      await expectDuringFailure(failure, write);
    } finally {
      await end();
    }
    await expect.poll(async () => (await read()).status, RECOVERED).toBe(200);
    await expect.poll(async () => (await write.send()).status, RECOVERED).toBe(201);
    expect(await write.count()).toBe(1);
    expect((await system.readiness()).services.json).toMatchObject({ status: 'ready', database: 'up' });
    await shop.merchant.received([before, await shop.merchant.publish()], 60_000);
    expect(stacks()).toEqual([]);
    for (const { child } of system.processes) expect(child.exitCode ?? child.signalCode).toBeNull();
  },
);
