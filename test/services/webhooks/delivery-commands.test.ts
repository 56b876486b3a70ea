import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import {
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import {
  answered,
  newUrl,
  type TestTenant,
  type WebhooksFixture,
  webhooksFixture,
} from './webhooks-fixture.ts';

const { PENDING, RETRYING, HELD, BLOCKED, SUCCEEDED, EXHAUSTED, CANCELED } = DeliveryStatus;
const { START, SIGNAL, CANCEL } = WorkflowCommandKind;

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

const request = (tenant: TestTenant, deliveryId: string) => ({
  ...{ ...tenant, deliveryId, idempotencyKey: newKey() },
});
const retry = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.retryDelivery(request(tenant, deliveryId))).delivery!;
const cancel = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.cancelDelivery(request(tenant, deliveryId))).delivery!;
const get = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.getDelivery({ ...tenant, deliveryId })).delivery!;

/** A subscription whose ping was answered. */
async function subscribed(tenant: TestTenant) {
  const subscription = await fixture.subscribe(tenant);
  const [key] = await fixture.claimKeys();
  await fixture.report(answered(key!.deliveryId, await fixture.send(key!), 200));
  return subscription;
}

/** A delivery whose first attempt was answered with this status. */
async function attempted(tenant: TestTenant, status: number) {
  await subscribed(tenant);
  await fixture.publish(tenant);
  const [key] = await fixture.claimKeys();
  await fixture.report(answered(key!.deliveryId, await fixture.send(key!), status));
  return key!.deliveryId;
}

/** A delivery as the failing ones beyond the limit of retry workflows are. */
async function held(tenant: TestTenant) {
  const deliveryId = await attempted(tenant, 500);
  await fixture.sql(`update webhooks.open_delivery set status = 'HELD' where id = $1`, [deliveryId]);
  await fixture.sql(
    `update webhooks.subscription set holding = true, probe_at = now() + interval '1 hour' where merchant_id = $1`,
    [tenant.merchantId],
  );
  return deliveryId;
}

/** While another transaction has the delivery's row: what is asked first gets it first. */
async function inTurn<A, B>(deliveryId: string, first: () => Promise<A>, second: () => Promise<B>) {
  const locking = new pg.Client({ connectionString: harness.databaseUrl });
  await locking.connect();
  await locking.query('begin');
  await locking.query('select from webhooks.open_delivery where id = $1 for update', [deliveryId]);
  const asked = [first(), delay(150).then(second)] as const;
  const settled = Promise.allSettled(asked);
  await delay(300);
  await locking.query('commit');
  await locking.end();
  return settled;
}

const isDue = (delivery: { nextAttemptAt?: Parameters<typeof timestampDate>[0] }) =>
  timestampDate(delivery.nextAttemptAt!).getTime() <= Date.now();

describe('RetryDelivery', () => {
  it('makes the next attempt due now, and starts or signals its workflow', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    expect(isDue(await get(tenant, deliveryId))).toBe(false);
    const delivery = await retry(tenant, deliveryId);
    expect(delivery).toMatchObject({ status: RETRYING, attemptCount: 1 });
    expect(isDue(delivery)).toBe(true);
    expect(delivery).toEqual(await get(tenant, deliveryId));
    const workflowId = `delivery-${deliveryId}`;
    const commands = await fixture.claimCommands();
    expect(commands).toMatchObject([
      { kind: START, workflowId, workflowType: 'retryDelivery' },
      { kind: SIGNAL, workflowId, signalName: 'recheck', argumentsJson: '[]' },
    ]);
    expect(JSON.parse(commands[0]!.argumentsJson)).toEqual([
      {
        ...{ deliveryId, merchantId: tenant.merchantId, environment: 'live' },
        subscriptionId: delivery.subscriptionId,
        requestId: delivery.requestId,
        eventType: 'payment.succeeded.v1',
      },
    ]);
    expect(await fixture.send({ deliveryId })).toMatchObject({ attemptNumber: 2 });
  });

  it('continues the schedule after the attempt', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    await retry(tenant, deliveryId);
    const [outcome] = await fixture.report(answered(deliveryId, await fixture.send({ deliveryId }), 500));
    // Five minutes, 20 % more or less.
    const waitMs = timestampDate(outcome!.nextAttemptAt!).getTime() - Date.now();
    expect(waitMs).toBeGreaterThan(230_000);
    expect(waitMs).toBeLessThan(370_000);
  });

  it('does not change queued deliveries and attempts in flight', async () => {
    const tenant = newTenant();
    await subscribed(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const { deliveryId } = key!;
    const waiting = await get(tenant, deliveryId);
    expect(await retry(tenant, deliveryId)).toEqual(waiting);
    await fixture.report(answered(deliveryId, await fixture.send(key!), 500));
    await retry(tenant, deliveryId);
    await fixture.send({ deliveryId });
    await fixture.claimCommands();
    const underWay = await get(tenant, deliveryId);
    expect(await retry(tenant, deliveryId)).toEqual(underWay);
    expect(await fixture.claimCommands()).toEqual([]);
  });

  it('queues a held delivery for the next batch, even if its subscription is being probed', async () => {
    const tenant = newTenant();
    const deliveryId = await held(tenant);
    expect(await retry(tenant, deliveryId)).toMatchObject({ status: PENDING, workflowId: '' });
    const [key] = await fixture.claimKeys();
    expect(key!.deliveryId).toBe(deliveryId);
    expect(await fixture.send(key!)).toMatchObject({ attemptNumber: 2 });
  });

  it('keeps a delivery on hold while the subscription is paused, and sends it first on resume', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const { subscriptionId } = await get(tenant, deliveryId);
    const ofSubscription = () => ({ ...tenant, subscriptionId, idempotencyKey: newKey() });
    await fixture.subscriptions.pauseWebhookSubscription(ofSubscription());
    const delivery = await retry(tenant, deliveryId);
    expect(delivery.status).toBe(HELD);
    expect(isDue(delivery)).toBe(true);
    expect(await fixture.claimKeys()).toEqual([]);
    await fixture.subscriptions.resumeWebhookSubscription(ofSubscription());
    expect(await fixture.claimKeys()).toMatchObject([{ deliveryId }]);
  });

  it('refuses an ended delivery, with its status', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 200);
    await expectRefusal(retry(tenant, deliveryId), Code.FailedPrecondition, 'DELIVERY_STATE', {
      state: 'SUCCEEDED',
    });
  });

  it('returns the first response for a repeated key', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const once = request(tenant, deliveryId);
    const first = await fixture.deliveries.retryDelivery(once);
    await fixture.report(answered(deliveryId, await fixture.send({ deliveryId }), 200));
    expect(await fixture.deliveries.retryDelivery(once)).toEqual(first);
  });

  it('is consistent with a concurrent report, whichever is first', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    await retry(tenant, deliveryId);
    const send = await fixture.send({ deliveryId });
    await fixture.sql(`update webhooks.open_delivery set in_flight_until = now() where id = $1`, [
      deliveryId,
    ]);
    const [retried, reported] = await inTurn(
      deliveryId,
      () => retry(tenant, deliveryId),
      () => fixture.report(answered(deliveryId, send, 500)),
    );
    expect(retried).toMatchObject({ value: { status: RETRYING, attemptCount: 1 } });
    expect(reported).toMatchObject({ value: [{ status: RETRYING }] });
    expect(isDue(await get(tenant, deliveryId))).toBe(false);
    await retry(tenant, deliveryId);
    const third = await fixture.send({ deliveryId });
    await fixture.sql(`update webhooks.open_delivery set in_flight_until = now() where id = $1`, [
      deliveryId,
    ]);
    const [, refused] = await inTurn(
      deliveryId,
      () => fixture.report(answered(deliveryId, third, 200)),
      () => retry(tenant, deliveryId),
    );
    expect(refused).toMatchObject({ reason: { code: Code.FailedPrecondition } });
    expect(await get(tenant, deliveryId)).toMatchObject({ status: SUCCEEDED, attemptCount: 3 });
  });
});

describe('CancelDelivery', () => {
  it('ends a delivery and its retry workflow, and nothing more is sent', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const canceled = await cancel(tenant, deliveryId);
    expect(canceled).toMatchObject({ status: CANCELED, attemptCount: 1, endedAt: expect.anything() });
    expect(canceled.nextAttemptAt).toBeUndefined();
    expect(canceled).toEqual(await get(tenant, deliveryId));
    expect(await fixture.claimCommands()).toMatchObject([
      { kind: CANCEL, workflowId: `delivery-${deliveryId}` },
    ]);
    expect(await fixture.ask([{ deliveryId }])).toMatchObject([
      { case: 'skip', value: { status: CANCELED } },
    ]);
  });

  it('ends a queued delivery, in a batch or before, without a workflow command', async () => {
    const tenant = newTenant();
    await subscribed(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    expect((await cancel(tenant, key!.deliveryId)).status).toBe(CANCELED);
    expect(await fixture.ask([key!])).toMatchObject([{ case: 'skip', value: { status: CANCELED } }]);
    expect(await fixture.claimCommands()).toEqual([]);
  });

  it('records the attempt that was in flight, and does not repeat it', async () => {
    const tenant = newTenant();
    await subscribed(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const send = await fixture.send(key!);
    await cancel(tenant, key!.deliveryId);
    expect(await fixture.report(answered(key!.deliveryId, send, 500))).toMatchObject([{ status: CANCELED }]);
    const { delivery, attempts } = await fixture.deliveries.getDelivery({
      ...tenant,
      deliveryId: key!.deliveryId,
    });
    expect(delivery).toMatchObject({ status: CANCELED });
    expect(attempts).toMatchObject([{ number: 1, httpStatus: 500 }]);
  });

  it('returns a canceled delivery, and refuses one that ended otherwise', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const canceled = await cancel(tenant, deliveryId);
    expect(await cancel(tenant, deliveryId)).toEqual(canceled);
    const other = newTenant();
    const done = await attempted(other, 200);
    await expectRefusal(cancel(other, done), Code.FailedPrecondition, 'DELIVERY_STATE', {
      state: 'SUCCEEDED',
    });
  });

  it('is consistent with a concurrent report, whichever is first', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    await retry(tenant, deliveryId);
    const send = await fixture.send({ deliveryId });
    const [, late] = await inTurn(
      deliveryId,
      () => cancel(tenant, deliveryId),
      () => fixture.report(answered(deliveryId, send, 200)),
    );
    expect(late).toMatchObject({ value: [{ status: CANCELED }] });
    expect(await get(tenant, deliveryId)).toMatchObject({ status: CANCELED });
    const other = newTenant();
    const reported = await attempted(other, 500);
    await retry(other, reported);
    const second = await fixture.send({ deliveryId: reported });
    const [, refused] = await inTurn(
      reported,
      () => fixture.report(answered(reported, second, 200)),
      () => cancel(other, reported),
    );
    expect(refused).toMatchObject({ reason: { code: Code.FailedPrecondition } });
    expect(await get(other, reported)).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
  });

  it('unblocks the next delivery of the object, but not before earlier ones have ended', async () => {
    const tenant = newTenant();
    await fixture.subscriptions.createWebhookSubscription({
      ...{ ...tenant, idempotencyKey: newKey(), url: newUrl(), ordered: true },
      eventTypes: ['payment.succeeded.v1'],
    });
    const objectId = randomUUID();
    for (let n = 0; n < 4; n += 1) await fixture.publish(tenant, objectId);
    await fixture.claim();
    const listed = (await fixture.deliveries.listDeliveries({ ...tenant, eventType: 'payment.succeeded.v1' }))
      .deliveries;
    const [first, second, third, fourth] = listed.toReversed().map(({ id }) => id) as [
      string,
      string,
      string,
      string,
    ];
    const statuses = () =>
      Promise.all([first, second, third, fourth].map(async (id) => (await get(tenant, id)).status));
    expect(await statuses()).toEqual([PENDING, BLOCKED, BLOCKED, BLOCKED]);
    expect((await retry(tenant, second)).status).toBe(BLOCKED);
    await cancel(tenant, third);
    expect(await statuses()).toEqual([PENDING, BLOCKED, CANCELED, BLOCKED]);
    await cancel(tenant, first);
    expect(await statuses()).toEqual([CANCELED, PENDING, CANCELED, BLOCKED]);
    await cancel(tenant, second);
    expect(await fixture.claimKeys()).toMatchObject([{ deliveryId: fourth }]);
  });

  it('lets one of many concurrent cancellations and retries win', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const calls = Array.from({ length: 8 }, (_, n) => (n % 2 ? retry : cancel)(tenant, deliveryId));
    const results = await Promise.allSettled(calls);
    for (const [n, result] of results.entries()) if (n % 2 === 0) expect(result.status).toBe('fulfilled');
    expect(await get(tenant, deliveryId)).toMatchObject({ status: CANCELED });
    const rows = await fixture.sql('select from webhooks.ended_delivery where id = $1', [deliveryId]);
    expect(rows).toHaveLength(1);
  });
});

describe('commands about deliveries', () => {
  it('do not find deliveries of another merchant, or unknown ones', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const before = await get(tenant, deliveryId);
    for (const other of [{ ...tenant, environment: Environment.TEST }, newTenant()]) {
      await expectRefusal(retry(other, deliveryId), Code.NotFound, 'DELIVERY_NOT_FOUND');
      await expectRefusal(cancel(other, deliveryId), Code.NotFound, 'DELIVERY_NOT_FOUND');
    }
    await expectRefusal(retry(tenant, randomUUID()), Code.NotFound, 'DELIVERY_NOT_FOUND');
    expect(await get(tenant, deliveryId)).toEqual(before);
  });

  it('accept ids in upper case', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    expect((await retry(tenant, deliveryId.toUpperCase())).id).toBe(deliveryId);
    expect((await cancel(tenant, deliveryId.toUpperCase())).id).toBe(deliveryId);
    expect((await fixture.claimCommands()).map(({ workflowId }) => workflowId)).toEqual(
      // Of three: the cancellation takes the start away.
      Array.from({ length: 2 }, () => `delivery-${deliveryId}`),
    );
  });

  it('refuse a delivery that is exhausted', async () => {
    const tenant = newTenant(Environment.TEST);
    const deliveryId = await attempted(tenant, 500);
    while ((await get(tenant, deliveryId)).status === RETRYING) {
      await retry(tenant, deliveryId);
      await fixture.report(answered(deliveryId, await fixture.send({ deliveryId }), 500));
    }
    expect(await get(tenant, deliveryId)).toMatchObject({ status: EXHAUSTED, attemptCount: 4 });
    const state = { state: 'EXHAUSTED' };
    await expectRefusal(retry(tenant, deliveryId), Code.FailedPrecondition, 'DELIVERY_STATE', state);
    await expectRefusal(cancel(tenant, deliveryId), Code.FailedPrecondition, 'DELIVERY_STATE', state);
  });
});
