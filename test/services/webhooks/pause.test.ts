import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  DeliveryStatus,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import {
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import { answered, type TestTenant, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

const { PENDING, RETRYING, HELD, SUCCEEDED } = DeliveryStatus;

let databaseUrl: string;
let harness: TestHarness;
let fixture: WebhooksFixture;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
});
beforeEach(async () => {
  await emptyDatabase(databaseUrl);
  harness = await startHarness({ SERVICES: 'webhooks' }, undefined, databaseUrl);
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

/** A subscription whose ping was answered, and how to pause and resume it. */
async function activeSubscription(tenant: TestTenant) {
  const { id } = await fixture.subscribe(tenant);
  const [key] = await fixture.claimKeys();
  await fixture.report(answered(key!.deliveryId, await fixture.send(key!), 200));
  const request = () => ({ ...tenant, subscriptionId: id, idempotencyKey: newKey() });
  return {
    id,
    request,
    pause: async () => (await fixture.subscriptions.pauseWebhookSubscription(request())).subscription!,
    resume: async () => (await fixture.subscriptions.resumeWebhookSubscription(request())).subscription!,
    get: async (): Promise<WebhookSubscription> =>
      (await fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId: id })).subscription!,
  };
}

const statusOf = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.getDelivery({ ...tenant, deliveryId })).delivery!.status;

/** Publishes an event and has its first attempt answered with this status; answers the delivery's id. */
async function attempted(tenant: TestTenant, status: number) {
  await fixture.publish(tenant);
  const [key] = await fixture.claimKeys();
  await fixture.report(answered(key!.deliveryId, await fixture.send(key!), status));
  return key!.deliveryId;
}

/** What is claimed once upkeep has looked, which it does about once a second. */
async function claimedSoon() {
  const { batches } = await fixture.claim(100, 1_300);
  return batches.flatMap(({ id, deliveryIds }) =>
    deliveryIds.map((deliveryId) => ({ deliveryId, batchId: id })),
  );
}

describe('a paused subscription', () => {
  it('keeps its state and says since when it is paused, until it is resumed', async () => {
    const tenant = newTenant();
    const { pause, resume, get, request } = await activeSubscription(tenant);
    const paused = await pause();
    expect(paused).toMatchObject({ state: WebhookSubscriptionState.ACTIVE, pausedAt: expect.anything() });
    expect(await get()).toEqual(paused);
    expect(await pause()).toEqual(paused);
    const once = request();
    expect(
      (await fixture.subscriptions.resumeWebhookSubscription(once)).subscription!.pausedAt,
    ).toBeUndefined();
    expect((await resume()).pausedAt).toBeUndefined();
    await pause();
    await fixture.subscriptions.resumeWebhookSubscription(once);
    expect(await get()).toMatchObject({ pausedAt: expect.anything() });
  });

  it('collects events and sends none; resumed, they go, oldest first', async () => {
    const tenant = newTenant();
    const { pause, resume } = await activeSubscription(tenant);
    await pause();
    for (let n = 0; n < 5; n += 1) await fixture.publish(tenant);
    expect(await claimedSoon()).toEqual([]);
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, status: HELD });
    expect(deliveries).toHaveLength(5);
    await resume();
    const later = await fixture.publish(tenant);
    const keys = await fixture.claimKeys();
    const [last] = (await fixture.deliveries.listDeliveries({ ...tenant, eventId: later.id })).deliveries;
    const oldestFirst = [...deliveries.map(({ id }) => id).sort(), last!.id];
    expect(keys.map(({ deliveryId }) => deliveryId)).toEqual(oldestFirst);
  });

  it('holds what a batch has claimed and not begun, and lets what has begun end', async () => {
    const tenant = newTenant();
    const { pause, resume } = await activeSubscription(tenant);
    await fixture.publish(tenant);
    await fixture.publish(tenant);
    const [begun, claimed] = await fixture.claimKeys();
    const send = await fixture.send(begun!);
    await pause();
    const held = { case: 'skip', value: { status: HELD } };
    expect(await fixture.ask([begun!, claimed!])).toMatchObject([held, held]);
    await fixture.report(answered(begun!.deliveryId, send, 200));
    expect(await statusOf(tenant, begun!.deliveryId)).toBe(SUCCEEDED);
    expect(await statusOf(tenant, claimed!.deliveryId)).toBe(HELD);
    await resume();
    expect(await statusOf(tenant, claimed!.deliveryId)).toBe(HELD);
    await fixture.sql(`update webhooks.open_delivery set in_flight_until = now() where id = $1`, [
      claimed!.deliveryId,
    ]);
    const keys = await claimedSoon();
    expect(keys.map(({ deliveryId }) => deliveryId)).toEqual([claimed!.deliveryId]);
  });

  it('holds a delivery whose attempt fails meanwhile, also one that would have gone on retrying', async () => {
    const tenant = newTenant();
    const { pause } = await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const send = await fixture.send(key!);
    await pause();
    const [outcome] = await fixture.report(answered(key!.deliveryId, send, 500));
    expect(outcome).toMatchObject({ status: HELD, nextAttemptAt: expect.anything() });
    expect(outcome!.retry).toBeUndefined();
    expect(await claimedSoon()).toEqual([]);
  });

  it('ends its retry workflows, and goes on with their deliveries by batches when they are due', async () => {
    const tenant = newTenant();
    const { pause, resume } = await activeSubscription(tenant);
    const deliveryId = await attempted(tenant, 500);
    expect(await statusOf(tenant, deliveryId)).toBe(RETRYING);
    await pause();
    expect(await fixture.claimCommands()).toMatchObject([
      { kind: WorkflowCommandKind.SIGNAL, workflowId: `delivery-${deliveryId}`, signalName: 'recheck' },
    ]);
    expect(await fixture.ask([{ deliveryId }])).toMatchObject([{ case: 'skip', value: { status: HELD } }]);
    await fixture.sql(`update webhooks.open_delivery set next_attempt_at = now() where id = $1`, [
      deliveryId,
    ]);
    expect(await claimedSoon()).toEqual([]);
    await resume();
    expect(await statusOf(tenant, deliveryId)).toBe(PENDING);
    const [key] = await fixture.claimKeys();
    expect(await fixture.send(key!)).toMatchObject({ attemptNumber: 2 });
  });

  it('goes on being probed when it is resumed while its endpoint fails', async () => {
    const tenant = newTenant();
    const { id, pause, resume } = await activeSubscription(tenant);
    await fixture.publish(tenant);
    await fixture.publish(tenant);
    await fixture.claim();
    await fixture.sql(
      `update webhooks.open_delivery set status = 'HELD', batch_id = null, in_flight_since = null, in_flight_until = null`,
    );
    await fixture.sql(
      `update webhooks.subscription set holding = true, probe_at = now() + interval '1 hour' where id = $1`,
      [id],
    );
    await pause();
    await resume();
    expect(await claimedSoon()).toEqual([]);
    await fixture.sql(`update webhooks.subscription set probe_at = now() where id = $1`, [id]);
    expect(await claimedSoon()).toHaveLength(1);
  });

  it('cannot be paused while it is disabled, and is not paused any more once it was', async () => {
    const tenant = newTenant();
    const { pause, request, resume } = await activeSubscription(tenant);
    await pause();
    const { subscription } = await fixture.subscriptions.disableWebhookSubscription(request());
    expect(subscription!.pausedAt).toBeUndefined();
    await expectRefusal(pause(), Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_STATE', {
      state: 'DISABLED',
    });
    expect((await resume()).state).toBe(WebhookSubscriptionState.DISABLED);
    const anew = await fixture.subscriptions.reactivateWebhookSubscription(request());
    expect(anew.subscription!.pausedAt).toBeUndefined();
    expect(await fixture.claimKeys()).toHaveLength(1);
  });

  it('is nobody else’s to pause, resume or limit', async () => {
    const tenant = newTenant();
    const { request } = await activeSubscription(tenant);
    const { subscriptions } = fixture;
    for (const stranger of [newTenant(), { ...tenant, environment: 2 }]) {
      const probe = () => ({ ...request(), ...stranger });
      const calls = [
        () => subscriptions.pauseWebhookSubscription(probe()),
        () => subscriptions.resumeWebhookSubscription(probe()),
        () => subscriptions.setDeliveryLimits(probe()),
      ];
      for (const call of calls) await expectRefusal(call(), Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
    }
  });

  it('moves what waits in steps of a thousand, and all of it', async () => {
    const tenant = newTenant();
    const { id, pause, resume } = await activeSubscription(tenant);
    await fixture.sql(
      `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, event_id, event_type,
         object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
       select $1, 'live', uuidv7(), $2, uuidv7(), 'payment.succeeded.v1', 'o', 1, 'r', false, 'PENDING', 0, now()
         from generate_series(1, 2500)`,
      [tenant.merchantId, id],
    );
    const count = async () =>
      fixture.sql(
        `select status, count(*)::int from webhooks.open_delivery where subscription_id = $1 group by 1`,
        [id],
      );
    await pause();
    expect(await count()).toEqual([{ status: 'HELD', count: 2_500 }]);
    await resume();
    expect(await count()).toEqual([{ status: 'PENDING', count: 2_500 }]);
  });
});

describe('pausing while everything else goes on', () => {
  it('leaves nothing that waits or is retried, whatever is taken in, claimed and reported meanwhile', async () => {
    const tenant = newTenant();
    const { id, pause, resume } = await activeSubscription(tenant);
    let stopped = false;
    const until = async (work: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; !stopped; turn += 1) await work(turn);
    };
    const deliver = async (turn: number) => {
      const { batches } = await fixture.claim(10);
      for (const batch of batches) {
        const keys = batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id }));
        const { answers } = await fixture.dispatch.getAttempt({ attempts: keys });
        const reports = answers.flatMap(({ deliveryId, answer }) =>
          answer.case === 'send' ? [answered(deliveryId, answer.value, turn % 3 ? 500 : 200)] : [],
        );
        if (reports.length > 0) await fixture.report(...reports);
      }
    };
    const others = [until(() => fixture.publish(tenant)), until(deliver), until(deliver)];
    const seen = new Set<string>();
    for (let round = 0; round < 12; round += 1) {
      await resume();
      await delay(60);
      await pause();
      for (let look = 0; look < 4; look += 1) {
        const rows = await fixture.sql<{ status: string }>(
          'select distinct status from webhooks.open_delivery where subscription_id = $1',
          [id],
        );
        for (const { status } of rows) seen.add(status);
        await delay(10);
      }
    }
    stopped = true;
    await Promise.all(others);
    expect([...seen]).toEqual(['HELD']);
  });
});

describe('limits of a subscription', () => {
  it('are answered as they are set, and go back to the defaults', async () => {
    const { request, get } = await activeSubscription(newTenant());
    const limits = { maxConcurrentAttempts: 3, maxAttemptsPerSecond: 50 };
    const set = await fixture.subscriptions.setDeliveryLimits({ ...request(), ...limits });
    expect(set.subscription).toMatchObject(limits);
    expect(await get()).toEqual(set.subscription);
    await fixture.subscriptions.setDeliveryLimits({ ...request(), maxConcurrentAttempts: 200 });
    expect(await get()).toMatchObject({ maxConcurrentAttempts: 200, maxAttemptsPerSecond: undefined });
    await fixture.subscriptions.setDeliveryLimits(request());
    expect((await get()).maxConcurrentAttempts).toBeUndefined();
  });

  it.each([
    { maxConcurrentAttempts: 0 },
    { maxConcurrentAttempts: 201 },
    { maxAttemptsPerSecond: 0 },
    { maxAttemptsPerSecond: 1_001 },
  ])('are refused beyond their bounds: %j', async (limits) => {
    const { request } = await activeSubscription(newTenant());
    const set = fixture.subscriptions.setDeliveryLimits({ ...request(), ...limits });
    await expectRefusal(set, Code.InvalidArgument, 'INVALID_ARGUMENT');
  });
});

describe('an ordered subscription', () => {
  it('says so, and others do not', async () => {
    const tenant = newTenant();
    const create = (ordered: boolean) =>
      fixture.subscriptions.createWebhookSubscription({
        ...{ ...tenant, idempotencyKey: newKey(), ordered },
        ...{ url: `https://93.184.215.14/${newKey()}`, eventTypes: ['payment.succeeded.v1'] },
      });
    expect((await create(true)).subscription!.ordered).toBe(true);
    expect((await create(false)).subscription!.ordered).toBe(false);
  });
});
