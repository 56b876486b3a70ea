import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, startHarness, type TestTenant } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { newUrl, webhooksFixture } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks' });
const fixture = webhooksFixture(harness, harness.transports.inProcess);
afterAll(() => harness.close());

const write = (tenant: TestTenant, subscriptionId: string) => ({ ...newWrite(tenant), subscriptionId });
const deliveriesOf = async (tenant: TestTenant, filter: object) =>
  (await fixture.deliveries.listDeliveries({ ...tenant, ...filter })).deliveries;

/** A transaction that has published an event and not committed. */
async function publishing(tenant: TestTenant, objectId: string = randomUUID()) {
  const client = await openSession(harness.databaseUrl);
  onTestFinished(() => client.end());
  await client.query('begin');
  const event = {
    merchant_id: tenant.merchantId,
    environment: 'live',
    type: 'payment.succeeded.v1',
    object_id: objectId,
    request_id: 'r',
    occurred_at: new Date(),
    data: {},
  };
  const { rows } = await client.query<{ id: string }>('select id from webhooks.publish($1)', [
    JSON.stringify([event]),
  ]);
  const end = (how: 'commit' | 'rollback') => () => client.query(how);
  return { eventId: rows[0]!.id, commit: end('commit'), rollback: end('rollback') };
}

it('creates a delivery for each enabled subscription to the type, of the merchant and environment', async () => {
  const tenant = newTenant();
  const matching = await fixture.subscribe(tenant);
  await fixture.subscribe(tenant, ['refund.failed.v1']);
  await fixture.subscribe({ ...tenant, environment: Environment.TEST });
  await fixture.subscribe(newTenant());
  const disabled = await fixture.subscribe(tenant);
  await fixture.subscriptions.disableWebhookSubscription(write(tenant, disabled.id));
  const event = await fixture.publish(tenant);
  const younger = await fixture.subscribe(tenant);
  expect(await deliveriesOf(tenant, { eventId: event.id })).toMatchObject([
    { subscriptionId: matching.id, status: DeliveryStatus.PENDING, workflowId: '' },
  ]);
  expect(await deliveriesOf(tenant, { subscriptionId: younger.id })).toMatchObject([
    { eventType: 'webhook.ping.v1' },
  ]);
});

it('disabling waits for events that are being published, and cancels their deliveries', async () => {
  const tenant = newTenant();
  const { id } = await fixture.subscribe(tenant);
  const { eventId, commit } = await publishing(tenant);
  const disabling = fixture.subscriptions.disableWebhookSubscription(write(tenant, id));
  expect(await Promise.race([disabling, delay(300, 'waits')])).toBe('waits');
  await commit();
  await disabling;
  expect(await deliveriesOf(tenant, { eventId })).toMatchObject([{ status: DeliveryStatus.CANCELED }]);
});

it('an event waits for an uncommitted disabling, and then has no delivery', async () => {
  const tenant = newTenant();
  const { id } = await fixture.subscribe(tenant);
  await using changing = await openSession(harness.databaseUrl);
  await changing.query('begin');
  await changing.query(`select webhooks.lock_subscriptions($1, 'live')`, [tenant.merchantId]);
  await changing.query(
    `update webhooks.subscription set state = 'DISABLED', disabled_at = now(), disabled_position = 1 where id = $1`,
    [id],
  );
  const publishing = fixture.publish(tenant);
  expect(await Promise.race([publishing, delay(300, 'waits')])).toBe('waits');
  await changing.query('commit');
  expect(await deliveriesOf(tenant, { eventId: (await publishing).id })).toEqual([]);
});

it('an event that is rolled back leaves no gap in the numbers of its object', async () => {
  const tenant = newTenant();
  const objectId = randomUUID();
  const first = await fixture.publish(tenant, objectId);
  const { rollback } = await publishing(tenant, objectId);
  const second = fixture.publish(tenant, objectId);
  await rollback();
  expect([first.sequence, (await second).sequence]).toEqual([1n, 2n]);
});

it.each([0, 1])(
  'blocks the later of two events of an object that are published at once (%i)',
  async (last) => {
    const tenant = newTenant();
    await fixture.subscriptions.createWebhookSubscription({
      ...newWrite(tenant),
      url: newUrl(),
      ordered: true,
      eventTypes: ['payment.succeeded.v1'],
    });
    const objectId = randomUUID();
    const first = await publishing(tenant, objectId);
    const second = fixture.publish(tenant, objectId);
    expect(await Promise.race([second, delay(last * 300, 'waits')])).toBe('waits');
    await first.commit();
    await second;
    const found = await deliveriesOf(tenant, { objectId });
    expect(found.map(({ sequence, status }) => [Number(sequence), DeliveryStatus[status]])).toEqual([
      [2, 'BLOCKED'],
      [1, 'PENDING'],
    ]);
  },
);
