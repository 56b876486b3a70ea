import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { createServices, type Services } from '../../../services/server.ts';
import {
  ALL_GRANTS,
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { faultsOf, type LogEntry, LoggingWorker } from './ordered-log.ts';
import {
  answered,
  newUrl,
  type TestTenant,
  type WebhooksFixture,
  webhooksFixture,
} from './webhooks-fixture.ts';

const SETTINGS = {
  SERVICES: 'webhooks',
  WEBHOOK_SCHEDULE_LIVE: '0s,0s,0s',
  WEBHOOK_SCHEDULE_SANDBOX: '0s,0s',
};

let databaseUrl: string;
let harness: TestHarness;
let fixture: WebhooksFixture;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
});
const open = async () => {
  await emptyDatabase(databaseUrl);
  harness = await startHarness(SETTINGS, undefined, databaseUrl);
  fixture = webhooksFixture(harness, harness.transports.inProcess);
};

/** A subscription whose ping was answered. */
async function subscribe(tenant: TestTenant, ordered: boolean) {
  const { subscription } = await fixture.subscriptions.createWebhookSubscription({
    ...tenant,
    ...{ idempotencyKey: newKey(), url: newUrl(), eventTypes: ['payment.succeeded.v1'], ordered },
  });
  for (const key of await fixture.claimKeys()) await answer(key, 200);
  return subscription!;
}

type Key = { deliveryId: string; batchId?: string };
const answer = async (key: Key, status: number) =>
  (await fixture.report(answered(key.deliveryId, await fixture.send(key), status)))[0]!;

/** Claims what waits, and answers it by `object sequence`. */
async function claimBySequence(tenant: TestTenant): Promise<Map<string, Key>> {
  const { batches } = await fixture.claim();
  const keys = batches.flatMap((batch) =>
    batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })),
  );
  const named = keys.map(async (key) => {
    const { delivery } = await fixture.deliveries.getDelivery({ ...tenant, deliveryId: key.deliveryId });
    return [`${delivery!.objectId} ${delivery!.sequence}`, key] as const;
  });
  return new Map(await Promise.all(named));
}

async function statusesOf(tenant: TestTenant) {
  const { deliveries } = await fixture.deliveries.listDeliveries(tenant);
  return Object.fromEntries(
    deliveries
      .filter(({ eventType }) => eventType !== 'webhook.ping.v1')
      .map(({ objectId, sequence, status }) => [`${objectId} ${sequence}`, DeliveryStatus[status]]),
  );
}

describe('an ordered subscription', () => {
  beforeEach(open);
  afterEach(() => harness.close());

  it('is sent the events of one object one after the other, and shows those that wait as BLOCKED', async () => {
    const tenant = newTenant();
    const subscription = await subscribe(tenant, true);
    expect(subscription.ordered).toBe(true);
    for (const objectId of ['a', 'a', 'b', 'a', 'b']) await fixture.publish(tenant, objectId);
    const first = await claimBySequence(tenant);
    expect([...first.keys()].sort()).toEqual(['a 1', 'b 1']);
    const list = await fixture.deliveries.listDeliveries({ ...tenant, status: DeliveryStatus.BLOCKED });
    expect(list.deliveries).toHaveLength(3);
    for (const { ordered, workflowId, attemptCount } of list.deliveries)
      expect({ ordered, workflowId, attemptCount }).toEqual({
        ordered: true,
        workflowId: '',
        attemptCount: 0,
      });
    await answer(first.get('a 1')!, 200);
    const second = await claimBySequence(tenant);
    expect([...second.keys()]).toEqual(['a 2']);
    await answer(first.get('b 1')!, 204);
    await answer(second.get('a 2')!, 200);
    expect([...(await claimBySequence(tenant)).keys()].sort()).toEqual(['a 3', 'b 2']);
    expect(await statusesOf(tenant)).toEqual({
      ...{ 'a 1': 'SUCCEEDED', 'a 2': 'SUCCEEDED', 'b 1': 'SUCCEEDED' },
      ...{ 'a 3': 'PENDING', 'b 2': 'PENDING' },
    });
  });

  it('has a failing event hold back the later ones of its object, and only those', async () => {
    const tenant = newTenant(Environment.TEST);
    await subscribe(tenant, true);
    for (const objectId of ['a', 'a', 'b', 'b']) await fixture.publish(tenant, objectId);
    const first = await claimBySequence(tenant);
    const failing = first.get('a 1')!;
    expect((await answer(failing, 500)).status).toBe(DeliveryStatus.RETRYING);
    await answer(first.get('b 1')!, 200);
    expect([...(await claimBySequence(tenant)).keys()]).toEqual(['b 2']);
    expect(await statusesOf(tenant)).toMatchObject({ 'a 1': 'RETRYING', 'a 2': 'BLOCKED' });
    const exhausted = await answer({ deliveryId: failing.deliveryId }, 500);
    expect(exhausted.status).toBe(DeliveryStatus.EXHAUSTED);
    expect([...(await claimBySequence(tenant)).keys()]).toEqual(['a 2']);
  });

  it('goes on with the next when a delivery is canceled', async () => {
    const tenant = newTenant();
    await subscribe(tenant, true);
    for (let n = 0; n < 3; n += 1) await fixture.publish(tenant, 'a');
    const { deliveryId } = (await claimBySequence(tenant)).get('a 1')!;
    await fixture.deliveries.cancelDelivery({ ...tenant, idempotencyKey: newKey(), deliveryId });
    expect([...(await claimBySequence(tenant)).keys()]).toEqual(['a 2']);
    const { deliveries } = await fixture.deliveries.listDeliveries({
      ...tenant,
      status: DeliveryStatus.BLOCKED,
    });
    await fixture.deliveries.cancelDelivery({
      ...{ ...tenant, idempotencyKey: newKey(), deliveryId: deliveries[0]!.id },
    });
    expect(await claimBySequence(tenant)).toEqual(new Map());
  });

  it('leaves subscriptions that are not ordered as they are', async () => {
    const tenant = newTenant();
    await subscribe(tenant, true);
    const other = await subscribe(tenant, false);
    expect(other.ordered).toBe(false);
    for (let n = 0; n < 3; n += 1) await fixture.publish(tenant, 'a');
    const { batches } = await fixture.claim();
    const sizes = batches.reduce((sum, { deliveryIds }) => sum + deliveryIds.length, 0);
    expect(sizes).toBe(1 + 3);
  });

  it('has the next wait as HELD while it is paused, and leaves nothing open when it is disabled', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await subscribe(tenant, true);
    for (let n = 0; n < 3; n += 1) await fixture.publish(tenant, 'a');
    const key = (await claimBySequence(tenant)).get('a 1')!;
    const send = await fixture.send(key);
    const write = () => ({ ...tenant, subscriptionId, idempotencyKey: newKey() });
    await fixture.subscriptions.pauseWebhookSubscription(write());
    await fixture.report(answered(key.deliveryId, send, 200));
    expect(await statusesOf(tenant)).toEqual({ 'a 1': 'SUCCEEDED', 'a 2': 'HELD', 'a 3': 'BLOCKED' });
    expect((await fixture.claim(100, 1_200)).batches).toEqual([]);
    await fixture.subscriptions.resumeWebhookSubscription(write());
    expect([...(await claimBySequence(tenant)).keys()]).toEqual(['a 2']);
    await fixture.subscriptions.disableWebhookSubscription(write());
    expect(await statusesOf(tenant)).toEqual({ 'a 1': 'SUCCEEDED', 'a 2': 'CANCELED', 'a 3': 'CANCELED' });
  });

  it.each(['added', 'ended'] as const)(
    'lets the next go when one is added while the one before ends, the %s one first',
    async (first) => {
      const tenant = newTenant();
      const { id } = await subscribe(tenant, true);
      await fixture.publish(tenant, 'a');
      const before = (await claimBySequence(tenant)).get('a 1')!;
      const send = await fixture.send(before);
      await fixture.publish(tenant, 'a');
      const locking = new pg.Client({ connectionString: harness.databaseUrl });
      await locking.connect();
      await locking.query('begin');
      await locking.query('select from webhooks.subscription where id = $1 for no key update', [id]);
      const add = () => fixture.claim();
      const end = () => fixture.report(answered(before.deliveryId, send, 200));
      const both = first === 'added' ? [add, end] : [end, add];
      const done = [];
      for (const act of both) {
        done.push(act());
        await delay(150);
      }
      await locking.query('commit');
      await locking.end();
      await Promise.all(done);
      const claimed = (await done[first === 'added' ? 0 : 1]) as Awaited<ReturnType<typeof add>>;
      const later = await fixture.claim();
      expect([...claimed.batches, ...later.batches].flatMap(({ deliveryIds }) => deliveryIds)).toHaveLength(
        1,
      );
      expect(await statusesOf(tenant)).toEqual({ 'a 1': 'SUCCEEDED', 'a 2': 'PENDING' });
    },
  );

  it('lets the next go when one is added by a transaction that commits after the end of the one before', async () => {
    const tenant = newTenant();
    await subscribe(tenant, true);
    await subscribe(tenant, false);
    await fixture.publish(tenant, 'a');
    const keys = await fixture.claimKeys();
    const sends = await Promise.all(keys.map((key) => fixture.send(key)));
    const reports = keys.map(({ deliveryId }, index) => answered(deliveryId, sends[index]!, 200));
    await fixture.publish(tenant, 'a');
    const locking = new pg.Client({ connectionString: harness.databaseUrl });
    await locking.connect();
    await locking.query('begin');
    // Keeps the claim of what is not ordered, and with it what was added, from committing.
    await locking.query('lock table webhooks.batch in share mode');
    const adding = fixture.claim();
    await delay(150);
    const ending = fixture.report(...reports);
    await delay(150);
    await locking.query('commit');
    await locking.end();
    await Promise.all([adding, ending]);
    expect(await statusesOf(tenant)).toEqual({ 'a 1': 'SUCCEEDED', 'a 2': 'PENDING' });
    const claims = [await adding, await fixture.claim()];
    const ids = claims.flatMap(({ batches }) => batches.flatMap(({ deliveryIds }) => deliveryIds));
    expect(ids).toHaveLength(2);
  });

  it.each([0, 1])(
    'keeps the order when two take in events of one object, either first (%i)',
    async (first) => {
      const tenant = newTenant();
      const { id } = await subscribe(tenant, true);
      const locking = new pg.Client({ connectionString: harness.databaseUrl });
      await locking.connect();
      await locking.query('begin');
      // Key share locks wait for this one, which disabling takes.
      await locking.query('select from webhooks.subscription where id = $1 for update', [id]);
      await fixture.publish(tenant, 'a');
      const claims = [fixture.claim()];
      await delay(150);
      await fixture.publish(tenant, 'a');
      claims[1] = fixture.claim();
      await delay(150);
      await locking.query('commit');
      await locking.end();
      await claims[first];
      const claimed = (await Promise.all(claims)).flatMap(({ batches }) => batches);
      const [only, ...others] = claimed.flatMap((batch) =>
        batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })),
      );
      expect(others).toEqual([]);
      expect(await statusesOf(tenant)).toEqual({ 'a 1': 'PENDING', 'a 2': 'BLOCKED' });
      await answer(only!, 200);
      expect([...(await claimBySequence(tenant)).keys()]).toEqual(['a 2']);
    },
  );

  it('lets go what waits for nothing any more, whatever has brought that about', async () => {
    const tenant = newTenant();
    await subscribe(tenant, true);
    await fixture.publish(tenant, 'a');
    await fixture.publish(tenant, 'a');
    expect([...(await claimBySequence(tenant)).keys()]).toEqual(['a 1']);
    await fixture.sql(`delete from webhooks.open_delivery where status = 'PENDING'`);
    const elsewhere = await startElsewhere();
    try {
      const there = webhooksFixture(harness, fixtureTransport(elsewhere));
      const { batches } = await there.claim(100, 2_000);
      expect(batches.flatMap(({ deliveryIds }) => deliveryIds)).toHaveLength(1);
    } finally {
      await elsewhere.close();
    }
  });
});

const startElsewhere = () =>
  createServices({
    ...{ config: harness.config, databaseUrl: harness.databaseUrl, logger: createLogger('fatal') },
  });
const fixtureTransport = (services: Services) =>
  services.transportFor({ name: 'test', grants: new Set(ALL_GRANTS) });

describe('whatever the outcomes and however many work side by side', () => {
  let elsewhere: Services;
  beforeAll(async () => {
    await open();
    elsewhere = await startElsewhere();
  });
  afterAll(async () => {
    await elsewhere.close();
    await harness.close();
  });

  it('no two of one object are under way, none is before an earlier one, and all of them end', async () => {
    const there = webhooksFixture(harness, fixtureTransport(elsewhere));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 5, maxLength: 40 }),
        fc.infiniteStream(fc.constantFrom(200, 200, 200, 500)),
        fc.infiniteStream(fc.integer({ min: 1, max: 6 })),
        async (objects, statuses, sizes) => {
          const tenant = newTenant();
          await subscribe(tenant, true);
          await subscribe(tenant, true);
          const events = new Map<string, { objectId: string; sequence: bigint }>();
          let published = false;
          const publish = async () => {
            await Promise.all(
              ['a', 'b', 'c'].map(async (name) => {
                for (const objectId of objects.filter((object) => object === name)) {
                  const event = await fixture.publish(tenant, objectId, randomUUID());
                  events.set(event.id, { objectId, sequence: event.sequence });
                }
              }),
            );
            published = true;
          };
          const log: LogEntry[] = [];
          const retries: string[] = [];
          const work = async (own: WebhooksFixture) => {
            const worker = new LoggingWorker(own, log, retries, () => statuses.next().value);
            for (let idle = 0; idle < 3; ) {
              const worked = await worker.step(sizes.next().value);
              idle = worked || !published ? 0 : idle + 1;
            }
          };
          await Promise.all([publish(), work(fixture), work(fixture), work(there), work(there)]);
          expect(faultsOf(log, events)).toEqual([]);
          const left = await fixture.sql('select status from webhooks.open_delivery where merchant_id = $1', [
            tenant.merchantId,
          ]);
          expect(left).toEqual([]);
          expect(events.size).toBe(objects.length);
        },
      ),
      { numRuns: propertyRuns(6), endOnFailure: true },
    );
  });
});
