import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimBatchResponse } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import { answered, type TestTenant, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

let databaseUrl: string;
let harness: TestHarness;
let fixture: WebhooksFixture;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
});
beforeEach(async () => {
  await emptyDatabase(databaseUrl);
  // Retries are due at once.
  harness = await startHarness(
    { SERVICES: 'webhooks', WEBHOOK_SCHEDULE_LIVE: '0s,0s,0s,0s' },
    undefined,
    databaseUrl,
  );
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

interface Limits {
  readonly maxConcurrentAttempts?: number;
  readonly maxAttemptsPerSecond?: number;
}

const keysOf = ({ batches }: ClaimBatchResponse) =>
  batches.flatMap((batch) => batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })));
const claimSize = async (max = 100, waitMs = 0) => keysOf(await fixture.claim(max, waitMs)).length;

async function answerAll(claim: ClaimBatchResponse, status: number): Promise<void> {
  for (const key of keysOf(claim))
    await fixture.report(answered(key.deliveryId, await fixture.send(key), status));
}

/** A subscription with limits and so many deliveries that wait. */
async function limitedSubscription(limits: Limits, events: number, tenant: TestTenant = newTenant()) {
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  await answerAll(await fixture.claim(), 200);
  await fixture.subscriptions.setDeliveryLimits({
    ...{ ...tenant, subscriptionId, idempotencyKey: newKey() },
    ...limits,
  });
  for (let n = 0; n < events; n += 1) await fixture.publish(tenant);
  return { subscriptionId, tenant };
}

/** Runs these at the same time: all have begun before any of them gets to the budgets. */
async function together<T>(acts: readonly (() => Promise<T>)[]): Promise<T[]> {
  const locking = new pg.Client({ connectionString: harness.databaseUrl });
  await locking.connect();
  await locking.query('begin; lock table webhooks.attempt_budget in access exclusive mode');
  const answers = acts.map((act) => act());
  await delay(200);
  await locking.query('commit');
  await locking.end();
  return Promise.all(answers);
}

/** Lets a second go by for the rates. */
const secondLater = () =>
  fixture.sql(`update webhooks.attempt_budget set counted_at = counted_at - interval '1 s'`);
/** What was spent comes back no sooner than that. */
const stopTime = () =>
  fixture.sql(`update webhooks.attempt_budget set counted_at = now() + interval '1 hour'`);

describe('a limit of attempts under way', () => {
  it('lets no more into batches until some end', async () => {
    await limitedSubscription({ maxConcurrentAttempts: 3 }, 8);
    const first = await fixture.claim();
    expect(keysOf(first)).toHaveLength(3);
    expect(await claimSize()).toBe(0);
    const [one] = keysOf(first);
    await fixture.report(answered(one!.deliveryId, await fixture.send(one!), 200));
    expect(await claimSize(100, 500)).toBe(1);
  });

  it('holds when many claim at the same time', async () => {
    await limitedSubscription({ maxConcurrentAttempts: 4 }, 20);
    const claims = await together(Array.from({ length: 8 }, () => () => fixture.claim(2)));
    const sizes = [...claims, await fixture.claim()].map((claim) => keysOf(claim).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(4);
  });

  it('counts retries, by themselves and beside batches', async () => {
    await limitedSubscription({ maxConcurrentAttempts: 4 }, 4);
    const failed = await fixture.claim();
    await answerAll(failed, 500);
    await limitsTo({ maxConcurrentAttempts: 1 });
    const retries = keysOf(failed).map(({ deliveryId }) => ({ deliveryId }));
    const answers = await together(retries.map((retry) => () => fixture.ask([retry])));
    expect(
      answers
        .flat()
        .map((answer) => answer.case)
        .sort(),
    ).toEqual(['notNow', 'notNow', 'notNow', 'send']);
  });

  it('has what waited for room share a batch with what is new, which is handed out again as a whole', async () => {
    await limitedSubscription({ maxConcurrentAttempts: 1 }, 2);
    const first = await fixture.claim();
    const other = newTenant();
    await fixture.subscribe(other);
    await answerAll(await fixture.claim(), 200);
    await answerAll(first, 200);
    await fixture.publish(other);
    const { batches } = await fixture.claim();
    expect(batches).toMatchObject([{ deliveryIds: [expect.anything(), expect.anything()] }]);
    await fixture.sql(`update webhooks.batch set leased_until = now() - interval '1 s'`);
    const again = await fixture.claim(100, 2_000);
    expect(again.batches.map(({ id }) => id)).toEqual([batches[0]!.id]);
    expect(again.batches[0]!.deliveryIds.toSorted()).toEqual(batches[0]!.deliveryIds.toSorted());
  });

  it('does not touch other subscriptions', async () => {
    await limitedSubscription({ maxConcurrentAttempts: 1 }, 5);
    const other = newTenant();
    await fixture.subscribe(other);
    for (let n = 0; n < 5; n += 1) await fixture.publish(other);
    expect(await claimSize()).toBe(1 + 6);
  });

  const limitsTo = async (limits: Limits) => {
    const [row] = await fixture.sql<{ merchant_id: string; id: string }>(
      'select merchant_id, id from webhooks.subscription',
    );
    await fixture.subscriptions.setDeliveryLimits({
      ...{ merchantId: row!.merchant_id, environment: 1, subscriptionId: row!.id, idempotencyKey: newKey() },
      ...limits,
    });
  };
});

describe('a limit of attempts a second', () => {
  it('lets a second of them begin at once, and then as many as time brings', async () => {
    await limitedSubscription({ maxAttemptsPerSecond: 5 }, 16);
    expect(await claimSize()).toBe(5);
    await stopTime();
    expect(await claimSize()).toBe(0);
    await fixture.sql('update webhooks.attempt_budget set counted_at = now()');
    await secondLater();
    expect(await claimSize()).toBe(5);
    await fixture.sql(`update webhooks.attempt_budget set counted_at = now() - interval '1 hour'`);
    expect(await claimSize()).toBe(5);
  });

  it('holds when many claim at the same time', async () => {
    await limitedSubscription({ maxAttemptsPerSecond: 6 }, 20);
    expect(await claimSize(1)).toBe(1);
    await stopTime();
    const claims = await together(Array.from({ length: 8 }, () => () => fixture.claim(2)));
    const sizes = [...claims, await fixture.claim()].map((claim) => keysOf(claim).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(5);
  });

  it('counts retries, and tells those that wait when their turn is', async () => {
    await limitedSubscription({ maxAttemptsPerSecond: 4 }, 4);
    const failed = await fixture.claim();
    await answerAll(failed, 500);
    await fixture.sql('update webhooks.attempt_budget set remaining = 1');
    await stopTime();
    const answers = await fixture.ask(keysOf(failed).map(({ deliveryId }) => ({ deliveryId })));
    const delays = answers.flatMap((answer) => (answer.case === 'notNow' ? [answer.value.delayMs] : []));
    expect(answers.filter((answer) => answer.case === 'send')).toHaveLength(1);
    expect(delays).toEqual([250, 500, 750]);
  });

  it('is gone once it is taken back', async () => {
    const { subscriptionId, tenant } = await limitedSubscription({ maxAttemptsPerSecond: 1 }, 9);
    expect(await claimSize()).toBe(1);
    await fixture.subscriptions.setDeliveryLimits({ ...tenant, subscriptionId, idempotencyKey: newKey() });
    expect(await claimSize()).toBe(8);
  });
});

describe('what is sent again', () => {
  it('goes after live events of all subscriptions', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    const resent = await fixture.publish(tenant);
    await answerAll(await fixture.claim(), 200);
    await fixture.sql(
      `insert into webhooks.open_delivery
         (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
          resend_id, ordered, status, attempt_count, next_attempt_at)
       select merchant_id, environment, uuidv7(), $2, id, type, object_id, sequence, request_id, uuidv7(), false,
              'PENDING', 0, now() from webhooks.event cross join generate_series(1, 15) where id = $1`,
      [resent.id, subscriptionId],
    );
    const other = newTenant();
    await fixture.subscribe(other);
    const live = [await fixture.publish(other), await fixture.publish(other)];
    const keys = keysOf(await fixture.claim(3));
    const events = await Promise.all(keys.map(async (key) => (await fixture.send(key)).eventId));
    expect(events).toEqual(expect.arrayContaining(live.map(({ id }) => id)));
    expect(events).not.toContain(resent.id);
    const late = await fixture.publish(tenant);
    const [key] = keysOf(await fixture.claim(1));
    expect((await fixture.send(key!)).eventId).toBe(late.id);
    expect(await claimSize()).toBe(15);
  });
});
