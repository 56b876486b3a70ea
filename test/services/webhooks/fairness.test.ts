import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type ClaimBatchResponse,
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { createServices } from '../../../services/server.ts';
import {
  ALL_GRANTS,
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import { answered, type TestTenant, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

const RETRY_LIMIT = 3;

let databaseUrl: string;
let harness: TestHarness;
let fixture: WebhooksFixture;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
});
beforeEach(async () => {
  await emptyDatabase(databaseUrl);
  harness = await startHarness(
    { SERVICES: 'webhooks', WEBHOOK_RETRY_WORKFLOW_LIMIT: String(RETRY_LIMIT) },
    undefined,
    databaseUrl,
  );
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

/** A subscription with this many deliveries waiting and nothing under way. */
async function subscriptionWithWork(events: number, tenant: TestTenant = newTenant()) {
  const { id } = await fixture.subscribe(tenant);
  await answerAll(await fixture.claim(), 200);
  for (let n = 0; n < events; n += 1) await fixture.publish(tenant);
  return { id, tenant };
}

/** Has every delivery of these batches answered with one status. */
async function answerAll({ batches }: ClaimBatchResponse, status: number) {
  const keys = batches.flatMap((batch) =>
    batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })),
  );
  if (keys.length === 0) return [];
  const answers = await fixture.ask(keys);
  return fixture.report(
    ...answers.map((answer, index) => {
      if (answer.case !== 'send') throw new Error(`answered ${answer.case}`);
      return answered(keys[index]!.deliveryId, answer.value, status);
    }),
  );
}

/** How many deliveries of each subscription a claim has. */
async function sharesOf({ batches }: ClaimBatchResponse): Promise<Record<string, number>> {
  const rows = await fixture.sql<{ subscription_id: string; count: number }>(
    `select subscription_id, count(*)::int from webhooks.delivery where id = any ($1) group by 1`,
    [batches.flatMap(({ deliveryIds }) => deliveryIds)],
  );
  return Object.fromEntries(rows.map(({ subscription_id, count }) => [subscription_id, count]));
}

const sizeOf = ({ batches }: ClaimBatchResponse) =>
  batches.reduce((sum, { deliveryIds }) => sum + deliveryIds.length, 0);

const statuses = async (tenant: TestTenant, status: DeliveryStatus) =>
  (await fixture.deliveries.listDeliveries({ ...tenant, status })).deliveries.map(({ id }) => id);

describe('batches', () => {
  it('are filled by one subscription if it alone has work', async () => {
    const { id } = await subscriptionWithWork(60);
    expect(await sharesOf(await fixture.claim(50))).toEqual({ [id]: 50 });
  });

  it('take a few deliveries of each subscription with work, however much it has', async () => {
    const busy = await subscriptionWithWork(0);
    const quiet = [await subscriptionWithWork(0), await subscriptionWithWork(0)];
    for (let n = 0; n < 60; n += 1) await fixture.publish(busy.tenant);
    for (const { tenant } of quiet) for (let n = 0; n < 2; n += 1) await fixture.publish(tenant);
    const shares = await sharesOf(await fixture.claim(20));
    expect(shares).toEqual({ [busy.id]: 10, [quiet[0]!.id]: 2, [quiet[1]!.id]: 2 });
  });

  it('start at another subscription each time, so that small batches reach all', async () => {
    const all = [await subscriptionWithWork(0), await subscriptionWithWork(0), await subscriptionWithWork(0)];
    for (const { tenant } of all) for (let n = 0; n < 3; n += 1) await fixture.publish(tenant);
    const seen: string[] = [];
    for (let n = 0; n < 3; n += 1) seen.push(...Object.keys(await sharesOf(await fixture.claim(1))));
    expect(new Set(seen)).toEqual(new Set(all.map(({ id }) => id)));
  });

  it('take queued deliveries beside new ones, however many those are', async () => {
    const waiting = await subscriptionWithWork(0);
    const others = [];
    for (let n = 0; n < 5; n += 1) others.push(await subscriptionWithWork(0));
    for (let n = 0; n < 30; n += 1) await fixture.publish(waiting.tenant);
    let claimed = 0;
    for (const { tenant } of others) {
      const claim = await fixture.claim(10);
      claimed += (await sharesOf(claim))[waiting.id] ?? 0;
      await answerAll(claim, 200);
      for (let n = 0; n < 10; n += 1) await fixture.publish(tenant);
    }
    expect(claimed).toBeGreaterThanOrEqual(20);
  });

  it('keep a subscription within its limit of attempts in flight', async () => {
    const { tenant } = await subscriptionWithWork(130);
    for (const size of [100, 30]) expect(sizeOf(await fixture.claim(100))).toBe(size);
    for (let n = 0; n < 100; n += 1) await fixture.publish(tenant);
    for (const size of [70, 0]) {
      // Slow ones would keep it out of batches for another reason.
      await fixture.sql(
        'update webhooks.open_delivery set in_flight_since = now() where in_flight_since is not null',
      );
      expect(sizeOf(await fixture.claim(100))).toBe(size);
    }
  });

  it('contain one environment each', async () => {
    const live = newTenant();
    const test = { ...live, environment: Environment.TEST };
    await subscriptionWithWork(2, live);
    await subscriptionWithWork(0, test);
    await fixture.publish(test);
    await fixture.publish(live);
    await fixture.publish(test);
    const { batches } = await fixture.claim();
    const sizes = batches.map(({ environment, deliveryIds }) => [environment, deliveryIds.length]);
    expect(sizes).toEqual(
      expect.arrayContaining([
        [Environment.LIVE, 1],
        [Environment.TEST, 2],
      ]),
    );
    expect(sizes).toHaveLength(2);
  });

  it('skip a subscription with several slow attempts in flight, until they end', async () => {
    const slow = await subscriptionWithWork(0);
    const other = await subscriptionWithWork(0);
    for (let n = 0; n < 10; n += 1) await fixture.publish(slow.tenant);
    const hanging = await fixture.claim();
    expect(sizeOf(hanging)).toBe(10);
    await delay(260);
    await fixture.publish(slow.tenant);
    await fixture.publish(other.tenant);
    expect(await sharesOf(await fixture.claim())).toEqual({ [other.id]: 1 });
    expect(sizeOf(await fixture.claim(100, 200))).toBe(0);
    await answerAll(hanging, 200);
    expect(await sharesOf(await fixture.claim(100, 500))).toEqual({ [slow.id]: 1 });
  });

  it('reach a worker whose services run in another process than the one that committed', async () => {
    const { tenant } = await subscriptionWithWork(0);
    const { config, databaseUrl } = harness;
    const elsewhere = await createServices({ config, databaseUrl, logger: createLogger('fatal') });
    try {
      const there = webhooksFixture(
        harness,
        elsewhere.transportFor({ name: 'test', grants: new Set(ALL_GRANTS) }),
      );
      const waiting = there.claim(100, 5_000);
      await delay(150);
      const startedAt = performance.now();
      await fixture.publish(tenant);
      expect(sizeOf(await waiting)).toBe(1);
      expect(performance.now() - startedAt).toBeLessThan(500);
    } finally {
      await elsewhere.close();
    }
  });
});

describe('a failing endpoint', () => {
  it('has a limited number of retry workflows; further deliveries are held', async () => {
    const { tenant } = await subscriptionWithWork(8);
    const outcomes = await answerAll(await fixture.claim(), 500);
    const retrying = outcomes.filter(({ status }) => status === DeliveryStatus.RETRYING);
    expect(retrying).toHaveLength(RETRY_LIMIT);
    for (const { retry } of retrying) expect(retry).toBeDefined();
    const held = outcomes.filter(({ status }) => status === DeliveryStatus.HELD);
    expect(held).toHaveLength(5);
    for (const { retry, nextAttemptAt } of held) {
      expect(retry).toBeUndefined();
      expect(nextAttemptAt).toBeDefined();
    }
    const [deliveryId] = await statuses(tenant, DeliveryStatus.HELD);
    const { delivery } = await fixture.deliveries.getDelivery({ ...tenant, deliveryId: deliveryId! });
    expect(delivery!.workflowId).toBe('');
  });

  it('has no more retry workflows with concurrent reports', async () => {
    const { tenant } = await subscriptionWithWork(12);
    const claims = await Promise.all(Array.from({ length: 6 }, () => fixture.claim(2)));
    const rest = await fixture.claim();
    await Promise.all([...claims, rest].map((claim) => answerAll(claim, 500)));
    expect(await statuses(tenant, DeliveryStatus.RETRYING)).toHaveLength(RETRY_LIMIT);
    expect(await statuses(tenant, DeliveryStatus.HELD)).toHaveLength(12 - RETRY_LIMIT);
  });

  it('is probed with one held delivery every five seconds, and all are sent after a success', async () => {
    const { id, tenant } = await subscriptionWithWork(9);
    await answerAll(await fixture.claim(), 500);
    const heldDue = () =>
      fixture.sql(
        `update webhooks.open_delivery set next_attempt_at = now() - interval '1 s' where status = 'HELD'`,
      );
    const probeDue = () =>
      fixture.sql(`update webhooks.subscription set probe_at = now() where id = $1`, [id]);
    await heldDue();
    expect(sizeOf(await fixture.claim(100, 1_200))).toBe(0);
    await probeDue();
    const probe = await fixture.claim(100, 1_200);
    expect(sizeOf(probe)).toBe(1);
    expect(sizeOf(await fixture.claim(100, 1_200))).toBe(0);
    const [failed] = await answerAll(probe, 500);
    expect(failed!.status).toBe(DeliveryStatus.HELD);
    await heldDue();
    await probeDue();
    const next = await fixture.claim(100, 1_200);
    expect(sizeOf(next)).toBe(1);
    const [answer] = await fixture.ask([
      { deliveryId: next.batches[0]!.deliveryIds[0]!, batchId: next.batches[0]!.id },
    ]);
    expect(answer!.case === 'send' && answer!.value.attemptNumber).toBeGreaterThanOrEqual(2);
    await answerAll(next, 200);
    const flowing = await fixture.claim(100, 1_200);
    expect(sizeOf(flowing)).toBe(5);
    await answerAll(flowing, 200);
    await fixture.claim(100, 1_200);
    const [subscription] = await fixture.sql(
      `select state, holding from webhooks.subscription where id = $1`,
      [id],
    );
    expect(subscription).toEqual({ state: 'ACTIVE', holding: false });
    expect(await statuses(tenant, DeliveryStatus.SUCCEEDED)).toHaveLength(1 + 9 - RETRY_LIMIT);
  });

  it('holds attempts that are still running beyond the limit, and closes those that are lost', async () => {
    const { tenant } = await subscriptionWithWork(RETRY_LIMIT + 1);
    const claim = await fixture.claim();
    const startedAt = new Date(Date.now() - 21_000);
    const outcomes = await fixture.report(
      ...claim.batches[0]!.deliveryIds.map((deliveryId) => ({
        ...{ deliveryId, attemptNumber: 1, generation: 1n, stillRunning: true },
        startedAt: timestampOf(startedAt),
        deadlineAt: timestampOf(new Date(startedAt.getTime() + 15_000)),
      })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(
      [...Array(RETRY_LIMIT).fill(DeliveryStatus.RETRYING), DeliveryStatus.HELD].sort(),
    );
    await fixture.claim(1, 1_200);
    const rows = await fixture.sql(
      `select failure from webhooks.attempt where number = 1 and failure is not null`,
    );
    expect(rows).toEqual(Array(RETRY_LIMIT + 1).fill({ failure: 'WORKER_LOST' }));
    expect(await statuses(tenant, DeliveryStatus.HELD)).toHaveLength(1);
  });
});

describe('disabling', () => {
  it('adds no delivery of an event that is dispatched while it commits', async () => {
    const { id, tenant } = await subscriptionWithWork(0);
    const disabling = new pg.Client({ connectionString: harness.databaseUrl });
    await disabling.connect();
    await disabling.query('begin');
    await disabling.query('select from webhooks.subscription where id = $1 for update', [id]);
    await disabling.query(
      `update webhooks.subscription set state = 'DISABLED', disabled_at = now() where id = $1`,
      [id],
    );
    const { id: eventId } = await fixture.publish(tenant);
    const claiming = fixture.claim();
    await delay(200);
    await disabling.query('commit');
    await disabling.end();
    expect(sizeOf(await claiming)).toBe(0);
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, eventId });
    expect(deliveries).toEqual([]);
  });

  it('leaves nothing open, whatever is published, claimed and reported concurrently', async () => {
    const { id: subscriptionId, tenant } = await subscriptionWithWork(10);
    let disabled = false;
    const publish = async () => {
      while (!disabled) await fixture.publish(tenant);
    };
    const work = async () => {
      while (!disabled) {
        const { batches } = await fixture.claim(5);
        const keys = batches.flatMap((batch) =>
          batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })),
        );
        const answers = keys.length > 0 ? await fixture.ask(keys) : [];
        const reports = answers.flatMap((answer, index) =>
          answer.case === 'send'
            ? [answered(keys[index]!.deliveryId, answer.value, index % 2 ? 200 : 500)]
            : [],
        );
        if (reports.length > 0) await fixture.report(...reports);
      }
    };
    const disable = async () => {
      await delay(300);
      await fixture.subscriptions.disableWebhookSubscription({
        ...tenant,
        subscriptionId,
        idempotencyKey: newKey(),
      });
      await delay(100);
      disabled = true;
    };
    await Promise.all([publish(), publish(), work(), work(), disable()]);
    await fixture.claim();
    const open = await fixture.sql('select id, status from webhooks.open_delivery');
    expect(open).toEqual([]);
    const { subscription } = await fixture.subscriptions.getWebhookSubscription({
      ...tenant,
      subscriptionId,
    });
    expect(subscription!.state).toBe(WebhookSubscriptionState.DISABLED);
  });
});
