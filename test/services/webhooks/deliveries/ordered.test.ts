import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Run } from '../../../../services/platform/database/cross-tenant-database.ts';
import { bindNamed } from '../../../../services/platform/database/named-sql.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { createServices, type Services } from '../../../../services/server.ts';
import { Unblocker, unblockDeliveries } from '../../../../services/webhooks/deliveries/ordered-deliveries.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';
import { PAYMENT } from '../webhooks-fixture.ts';
import { faultsOf, type LogEntry, loggingAnswer } from './ordered-log.ts';

let tenant: TestTenant;
// A delivery fails once, and is exhausted the second time.
const webhooks = await startLanesFixture({ WEBHOOK_SCHEDULE_SANDBOX: '0s,0s' });
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(() => {
  tenant = newTenant(Environment.TEST);
});

/** The statuses of the merchant's deliveries by `object sequence`. */
async function statuses(): Promise<Record<string, string>> {
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 100 });
  return Object.fromEntries(
    deliveries
      .filter(({ eventType }) => eventType !== 'webhook.ping.v1')
      .map(({ objectId, sequence, status }) => [`${objectId} ${sequence}`, DeliveryStatus[status]!]),
  );
}
const untilStatuses = (expected: Record<string, string>) =>
  eventually(async () => expect(await statuses()).toEqual(expected));

async function deliveryOf(name: string): Promise<string> {
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 100 });
  return deliveries.find(({ objectId, sequence }) => `${objectId} ${sequence}` === name)!.id;
}

async function publish(...objects: string[]): Promise<void> {
  for (const objectId of objects) await webhooks.publish(tenant, objectId);
}

describe('an ordered subscription', () => {
  it('receives the events of one object one after the other, and shows waiting ones as BLOCKED', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant, { ordered: true });
    expect((await webhooks.subscriptionOf(tenant, id)).ordered).toBe(true);
    const held = endpoint.hold();
    await publish('a', 'a', 'b', 'a', 'b');
    await eventually(() => expect(held.count).toBe(2));
    const waiting = { 'a 2': 'BLOCKED', 'a 3': 'BLOCKED', 'b 2': 'BLOCKED' };
    expect(await statuses()).toEqual({ 'a 1': 'PENDING', 'b 1': 'PENDING', ...waiting });
    const { deliveries } = await webhooks.deliveries.listDeliveries({
      ...tenant,
      status: DeliveryStatus.BLOCKED,
    });
    for (const blocked of deliveries)
      expect(blocked).toMatchObject({ ordered: true, workflowId: '', attemptCount: 0 });
    held.release(204);
    await untilStatuses({
      'a 1': 'SUCCEEDED',
      'b 1': 'SUCCEEDED',
      'a 2': 'PENDING',
      'b 2': 'PENDING',
      'a 3': 'BLOCKED',
    });
    await eventually(() => expect(held.count).toBe(2));
    endpoint.answer(200);
    held.release(200);
    await eventually(async () =>
      expect(new Set(Object.values(await statuses()))).toEqual(new Set(['SUCCEEDED'])),
    );
    expect(endpoint.eventIds).toHaveLength(5);
  });

  it('holds back only the later events of the object of a failing one', async () => {
    const { endpoint } = await webhooks.subscribed(tenant, { ordered: true });
    endpoint.answer(500);
    await publish('a', 'a');
    await untilStatuses({ 'a 1': 'RETRYING', 'a 2': 'BLOCKED' });
    endpoint.answer(200);
    await publish('b', 'b');
    await untilStatuses({ 'a 1': 'RETRYING', 'a 2': 'BLOCKED', 'b 1': 'SUCCEEDED', 'b 2': 'SUCCEEDED' });
    endpoint.answer(500);
    await webhooks.attemptAgain(tenant, await deliveryOf('a 1'));
    await untilStatuses({ 'a 1': 'EXHAUSTED', 'a 2': 'RETRYING', 'b 1': 'SUCCEEDED', 'b 2': 'SUCCEEDED' });
  });

  it.each([
    // The next owner of the lane unblocks it.
    ['its process dies', 'update webhooks.lane set owner_id = null, epoch = epoch + 1'],
    // The report is repeated.
    ['the response of the database is lost', undefined],
  ])('continues with the next when %s after a delivery has ended', async (_what, then) => {
    const { endpoint } = await webhooks.subscribed(tenant, { ordered: true });
    const held = endpoint.hold();
    await publish('a', 'a');
    await eventually(() => expect(held.count).toBe(1));
    await webhooks.sql(
      `with ended as (delete from webhooks.open_delivery where id = $1 returning *)
       insert into webhooks.ended_delivery
         (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
          status, attempt_count, ended_at)
       select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
              ordered, 'SUCCEEDED', 1, now() from ended`,
      [await deliveryOf('a 1')],
    );
    endpoint.answer(200);
    if (then) await webhooks.sql(then);
    else held.release(200);
    await untilStatuses({ 'a 1': 'SUCCEEDED', 'a 2': 'SUCCEEDED' });
    held.release(200);
  });

  it('does not affect unordered subscriptions', async () => {
    const { endpoint } = await webhooks.subscribed(tenant);
    const held = endpoint.hold();
    await publish('a', 'a', 'a');
    await eventually(() => expect(held.count).toBe(3));
    held.release(200);
  });

  it('holds the next delivery while it is paused, and leaves none open when it is disabled', async () => {
    const { id: subscriptionId, endpoint } = await webhooks.subscribed(tenant, { ordered: true });
    const write = () => ({ ...newWrite(tenant), subscriptionId });
    const held = endpoint.hold();
    await publish('a', 'a', 'a');
    await eventually(() => expect(held.count).toBe(1));
    await webhooks.subscriptions.pauseWebhookSubscription(write());
    held.release(200);
    await untilStatuses({ 'a 1': 'SUCCEEDED', 'a 2': 'HELD', 'a 3': 'BLOCKED' });
    await webhooks.subscriptions.resumeWebhookSubscription(write());
    await eventually(() => expect(held.count).toBe(1));
    await webhooks.subscriptions.disableWebhookSubscription(write());
    expect(await statuses()).toEqual({ 'a 1': 'SUCCEEDED', 'a 2': 'CANCELED', 'a 3': 'CANCELED' });
    held.release(200);
  });

  it('sends the next when it is unblocked while its subscription is being resumed', async () => {
    const { id: subscriptionId } = await webhooks.subscribed(tenant, { ordered: true });
    const write = () => ({ ...newWrite(tenant), subscriptionId });
    await webhooks.subscriptions.pauseWebhookSubscription(write());
    await publish('a');
    const of = { merchant_id: tenant.merchantId, subscription_id: subscriptionId, object_id: 'a' };
    await webhooks.sql(`update webhooks.open_delivery set status = 'BLOCKED' where subscription_id = $1`, [
      subscriptionId,
    ]);
    await using client = await openSession(webhooks.harness.databaseUrl);
    const run = (async ({ text }, parameters = {}) =>
      (await client.query(bindNamed(text, parameters))).rows) as Run;
    await client.query('begin');
    expect(await unblockDeliveries(run, [{ ...of, environment: 'test' }])).toEqual([]);
    const resumed = webhooks.subscriptions.resumeWebhookSubscription(write());
    const holding = 'select from webhooks.subscription where id = $1 and holding';
    await eventually(async () => {
      const waits = await lockWaits(webhooks.harness);
      expect(waits.length === 0 && (await webhooks.sql(holding, [subscriptionId])).length > 0).toBe(false);
    });
    await client.query('commit');
    await resumed;
    await untilStatuses({ 'a 1': 'SUCCEEDED' });
  });

  it.each(['commits', 'is rolled back'])(
    'sends the next when it is published by a transaction that %s after the one before has ended',
    async (how) => {
      const { endpoint } = await webhooks.subscribed(tenant, { ordered: true });
      const held = endpoint.hold();
      await publish('a');
      await eventually(() => expect(held.count).toBe(1));
      await using client = await openSession(webhooks.harness.databaseUrl);
      await client.query('begin');
      const event = {
        merchant_id: tenant.merchantId,
        environment: 'test',
        type: 'payment.succeeded.v1',
        object_id: 'a',
        request_id: 'r',
        occurred_at: new Date(),
        data: {},
      };
      await client.query('select from webhooks.publish($1)', [JSON.stringify([event])]);
      endpoint.answer(200);
      held.release(200);
      await untilStatuses({ 'a 1': 'SUCCEEDED' });
      await client.query(how === 'commits' ? 'commit' : 'rollback');
      if (how !== 'commits') await publish('a');
      await untilStatuses({ 'a 1': 'SUCCEEDED', 'a 2': 'SUCCEEDED' });
    },
  );

  it('continues with an object while more deliveries of others are waiting than fit into memory', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant, { ordered: true });
    const held = endpoint.hold();
    const payment = () => ({ type: 'payment.succeeded.v1', objectId: randomUUID(), data: PAYMENT });
    for (let call = 0; call < 4; call += 1) {
      const events = Array.from({ length: 100 }, payment);
      await webhooks.events.publishEvents({ ...newWrite(tenant), events });
    }
    await eventually(() => expect(held.count).toBeGreaterThan(0));
    // Published while the one before it was ending.
    await webhooks.sql(
      `insert into webhooks.open_delivery
         (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
          ordered, status, attempt_count, next_attempt_at)
       select merchant_id, environment, uuidv7(), subscription_id, lane, event_id, event_type, 'a', 2, request_id, true,
              'BLOCKED', 0, now()
         from webhooks.open_delivery where subscription_id = $1 limit 1`,
      [id],
    );
    const unblocked = () =>
      webhooks.sql(
        `select from webhooks.open_delivery where subscription_id = $1 and object_id = 'a' and status = 'PENDING'`,
        [id],
      );
    // Not by the next check of all deliveries, which may be half a minute away.
    await vi.waitFor(async () => expect(await unblocked()).toHaveLength(1), { timeout: 5_000 });
    endpoint.answer(200);
    held.release(200);
  });
});

it('an object whose delivery was locked is tried again after a failure of the database, with the next read', async () => {
  const tenantIds = { merchant_id: tenant.merchantId, environment: 'test' } as const;
  const object = { ...tenantIds, subscription_id: randomUUID(), object_id: 'a' };
  const run = vi.fn<() => Promise<object[]>>(async () => []);
  run.mockResolvedValueOnce([object]).mockRejectedValueOnce(new Error('Connection terminated'));
  const unblocker = new Unblocker(run as Run, createLogger('fatal'));
  await unblocker.unblock([object]);
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2));
  await vi.waitFor(async () => {
    await unblocker.unblock([]);
    expect(run).toHaveBeenCalledTimes(3);
  });
  expect(run.mock.calls[2]).toEqual(run.mock.calls[0]);
});

it('an object that is found locked while a pass begins for another is tried again', async () => {
  const object = (id: string) => ({
    merchant_id: tenant.merchantId,
    environment: 'test' as const,
    subscription_id: randomUUID(),
    object_id: id,
  });
  const [first, second] = [object('a'), object('b')];
  const answer = Promise.withResolvers<object[]>();
  const run = vi.fn<() => Promise<object[]>>(async () => []);
  run.mockResolvedValueOnce([first]).mockReturnValueOnce(answer.promise);
  const unblocker = new Unblocker(run as Run, createLogger('fatal'));
  await unblocker.unblock([first]);
  const unblocking = unblocker.unblock([second]);
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(3));
  answer.resolve([second]);
  await unblocking;
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(4));
  expect(run.mock.calls[3]).toEqual(run.mock.calls[1]);
});

it('lanes that were taken while the database failed are searched with the next read', async () => {
  const run = vi.fn<() => Promise<object[]>>(async () => []);
  run.mockRejectedValueOnce(new Error('Connection terminated'));
  const unblocker = new Unblocker(run as Run, createLogger('fatal'));
  unblocker.addLanes([1]);
  await vi.waitFor(async () => {
    await unblocker.unblock([]);
    expect(run).toHaveBeenCalledTimes(2);
  });
  expect(run.mock.calls[1]).toEqual(run.mock.calls[0]);
});

describe('whatever the outcomes and however many processes own lanes', () => {
  let elsewhere: Services;
  beforeAll(async () => {
    elsewhere = await createServices({
      config: webhooks.harness.config,
      databaseUrl: webhooks.harness.databaseUrl,
      logger: createLogger('fatal'),
    });
    elsewhere.startWebhookLanes();
  });
  afterAll(() => elsewhere?.close());

  /** Makes the retries that workflows would make, until no delivery of the merchant is open. */
  const retryUntilNothingIsOpen = () =>
    eventually(async () => {
      const open = await webhooks.sql<{ id: string; status: string }>(
        `select id, status from webhooks.open_delivery where merchant_id = $1`,
        [tenant.merchantId],
      );
      for (const { id: deliveryId, status } of open)
        if (status === 'RETRYING') await webhooks.dispatch.requestAttempt({ deliveryId, now: true });
      expect(open).toEqual([]);
    });

  it('no two deliveries of an object are in flight, none overtakes an earlier one, and all end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 5, maxLength: 40 }),
        fc.infiniteStream(fc.constantFrom(200, 200, 200, 500)),
        async (objects, statuses) => {
          tenant = newTenant(Environment.TEST);
          const log: LogEntry[] = [];
          const subscribers = [
            await webhooks.subscribed(tenant, { ordered: true }),
            await webhooks.subscribed(tenant, { ordered: true }),
          ];
          for (const { id, endpoint } of subscribers) {
            const answer = loggingAnswer(log, id, () => statuses.next().value);
            endpoint.answer((request, response) => answer(String(request.headers['webhook-id']), response));
          }
          const events = new Map<string, { objectId: string; sequence: bigint }>();
          await Promise.all(
            ['a', 'b', 'c'].map(async (name) => {
              for (const objectId of objects.filter((object) => object === name)) {
                const event = await webhooks.publish(tenant, objectId);
                events.set(event.id, { objectId, sequence: event.sequence });
              }
            }),
          );
          await retryUntilNothingIsOpen();
          expect(faultsOf(log, events)).toEqual([]);
          for (const { endpoint } of subscribers)
            expect(new Set(endpoint.eventIds)).toEqual(new Set(events.keys()));
        },
      ),
      { numRuns: propertyRuns(6), endOnFailure: true },
    );
  });
});
