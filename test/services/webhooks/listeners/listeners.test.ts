import { randomBytes } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryStatus,
  type ListenerDelivery,
  type OpenListenerResponse,
  WebhookListenerService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { executeNamed } from '../../../../services/platform/database/named-sql.ts';
import { expiredListeners } from '../../../../services/webhooks/listeners/expired-listeners.ts';
import { SubscriptionEntity } from '../../../../services/webhooks/subscriptions/subscription.entity.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness, type TestTenant } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks', WEBHOOK_SUBSCRIPTION_LIMIT: '1' });
// Lane owners run beside the listeners, and must not touch their deliveries.
harness.services.startWebhookLanes();
const fixture = webhooksFixture(harness, harness.transports.grpc);
afterAll(() => harness.close());

const client = () => createClient(WebhookListenerService, harness.transports.grpc);
const request = (tenant: TestTenant) => ({
  ...tenant,
  forwardsTo: 'http://localhost:3000/',
  signingSecret: `whsec_${randomBytes(32).toString('base64')}`,
});

/** Opens a listener over gRPC; `delivery` returns its next delivery. */
async function open(tenant: TestTenant) {
  const cancel = new AbortController();
  onTestFinished(() => cancel.abort());
  const stream = client().openListener(request(tenant), { signal: cancel.signal })[Symbol.asyncIterator]();
  const next = async <Case extends 'opened' | 'delivery'>(wanted: Case) => {
    for (;;) {
      const { value, done } = (await stream.next()) as IteratorResult<OpenListenerResponse, undefined>;
      if (done) throw new Error('the stream has ended');
      if (value.message.case === wanted) return value.message.value;
    }
  };
  const { listenerId } = (await next('opened')) as { listenerId: string };
  return {
    listenerId,
    cancel: () => cancel.abort(),
    delivery: () => next('delivery') as Promise<ListenerDelivery>,
  };
}

const report = (tenant: TestTenant, listenerId: string, deliveryId: string) =>
  client().reportListenerDelivery({
    ...tenant,
    listenerId,
    deliveryId,
    latencyMs: 1,
    outcome: { case: 'httpStatus', value: 200 },
  });

const statusesOf = async (tenant: TestTenant) =>
  (await fixture.deliveries.listDeliveries({ ...tenant, pageSize: 100 })).deliveries.map(
    ({ status }) => status,
  );

test('at most fifty unreported deliveries are sent', async () => {
  const tenant = newTenant(Environment.TEST);
  const { listenerId, delivery } = await open(tenant);
  await fixture.publishMany(tenant, 51);
  const sent: string[] = [];
  for (let n = 0; n < 50; n += 1) sent.push((await delivery()).deliveryId);
  expect(new Set(sent).size).toBe(50);
  let hasLast = false;
  const last = delivery().finally(() => {
    hasLast = true;
  });
  // In the meantime another listener of the process reads several times.
  const other = newTenant(Environment.TEST);
  const others = await open(other);
  for (let n = 0; n < 5; n += 1) {
    await fixture.publish(other);
    await others.delivery();
  }
  expect(hasLast).toBe(false);
  // Lane owners would count them as deliveries that they cannot send.
  const lanes = 'select distinct lane from webhooks.open_delivery where subscription_id = $1';
  expect(await fixture.sql(lanes, [listenerId])).toEqual([{ lane: -1 }]);
  await report(tenant, listenerId, sent[0]!);
  expect(sent).not.toContain((await last).deliveryId);
});

test('a listener is not listed among subscriptions and does not count toward their limit', async () => {
  const tenant = newTenant(Environment.TEST);
  const { listenerId: subscriptionId } = await open(tenant);
  const { id } = await fixture.subscribe(tenant);
  const { subscriptions } = await fixture.subscriptions.listWebhookSubscriptions(tenant);
  expect(subscriptions.map((subscription) => subscription.id)).toEqual([id]);
  const write = { ...newWrite(tenant), subscriptionId };
  const refusals = [
    fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId }),
    fixture.subscriptions.disableWebhookSubscription(write),
    fixture.subscriptions.rotateSigningSecret(write),
    fixture.subscriptions.sendTestEvent(write),
  ];
  await Promise.all(
    refusals.map((refused) => expectRefusal(refused, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND')),
  );
});

test('open deliveries are canceled when the stream ends, and the listener is removed', async () => {
  const tenant = newTenant(Environment.TEST);
  const { listenerId, delivery, cancel } = await open(tenant);
  await fixture.publish(tenant);
  const { deliveryId } = await delivery();
  cancel();
  await expect.poll(() => statusesOf(tenant)).toEqual([DeliveryStatus.CANCELED]);
  await expect
    .poll(() => fixture.sql('select id from webhooks.subscription where id = $1', [listenerId]))
    .toEqual([]);
  const late = report(tenant, listenerId, deliveryId);
  await expectRefusal(late, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
});

test('a listener whose caller leaves while all turns of the merchant are taken is removed once one is free', async () => {
  const tenant = newTenant(Environment.TEST);
  const { listenerId, cancel } = await open(tenant);
  await using session = await openSession(harness.databaseUrl);
  await session.query('begin');
  await session.query(`select webhooks.lock_subscriptions($1, 'test')`, [tenant.merchantId]);
  const others = Array.from({ length: 8 }, () => open(tenant));
  await expect.poll(() => lockWaits(harness)).toHaveLength(5);
  cancel();
  // A later call on the same connection: the services know by then that the caller has left.
  await statusesOf(tenant);
  await session.query('commit');
  await Promise.all(others);
  await expect
    .poll(() => fixture.sql('select id from webhooks.subscription where id = $1', [listenerId]))
    .toEqual([]);
});

test('a listener whose process has died is removed when its lease has expired', async () => {
  const tenant = newTenant(Environment.TEST);
  const { listenerId, delivery } = await open(tenant);
  await fixture.publish(tenant);
  await delivery();
  const lease = (ends: string) =>
    fixture.sql(`update webhooks.subscription set listening_until = ${ends} where id = $1`, [listenerId]);
  const database = await openDatabase(harness.databaseUrl, { entities: [SubscriptionEntity] });
  onTestFinished(() => database.close());
  const sweep = () => database.transaction((em) => expiredListeners.runBatch(em, database));
  await lease("now() + interval '1 second'");
  expect(await sweep()).toEqual({ rows: 0, more: false });
  await lease('now()');
  expect(await sweep()).toEqual({ rows: 1, more: true });
  expect(await statusesOf(tenant)).toEqual([DeliveryStatus.CANCELED]);
  expect(await sweep()).toEqual({ rows: 0, more: false });
});

test('a merchant has at most twenty, only in the sandbox', async () => {
  const tenant = newTenant(Environment.TEST);
  const opened = [];
  for (let n = 0; n < 20; n += 1) opened.push(await open(tenant));
  await expectRefusal(open(tenant), Code.FailedPrecondition, 'LISTENER_LIMIT_REACHED');
  await expectRefusal(open(newTenant()), Code.InvalidArgument, 'INVALID_ARGUMENT');
});

test.each(['grpc', 'inProcess'] as const)(
  'services that stop remove their listeners at once, over %s',
  async (way) => {
    const stopping = await startHarness({ SERVICES: 'webhooks' });
    const tenant = newTenant(Environment.TEST);
    const { openListener } = createClient(WebhookListenerService, stopping.transports[way]);
    const stream = openListener(request(tenant))[Symbol.asyncIterator]();
    await stream.next();
    const database = await openDatabase(stopping.databaseUrl, { entities: [SubscriptionEntity] });
    onTestFinished(() => database.close());
    const find = 'select id from webhooks.subscription where merchant_id = :merchantId';
    const listeners = () =>
      database.transaction((em) => executeNamed(em, find, { merchantId: tenant.merchantId }));
    expect(await listeners()).toHaveLength(1);
    await stopping.close();
    expect(await listeners()).toEqual([]);
  },
);
