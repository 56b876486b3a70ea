import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it, vi } from 'vitest';
import { newKeyRings } from '../../../../local/generated-secrets.ts';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { AttemptFailure } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, startHarness, type TestHarness } from '../../../support/harness.ts';
import { loopbackSettings } from '../../../support/loopback-settings.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

const SETTINGS = {
  ...loopbackSettings(),
  WEBHOOK_SECRET_KEYS: newKeyRings().WEBHOOK_SECRET_KEYS,
};

let second: TestHarness | undefined;
const webhooks = await startLanesFixture(SETTINGS);
afterAll(async () => {
  await second?.close();
  await webhooks[Symbol.asyncDispose]();
});

const lanesByOwner = async () => {
  const rows = await webhooks.sql<{ lanes: number }>(
    `select count(*)::int as lanes from webhooks.lane l
       join webhooks.lane_owner o on o.id = l.owner_id and o.leased_until > now()
      group by l.owner_id order by 1`,
  );
  return rows.map(({ lanes }) => lanes);
};
const waitForLanes = (lanes: readonly number[]) =>
  vi.waitFor(async () => expect(await lanesByOwner()).toEqual(lanes), { timeout: 20_000 });

it('shares the lanes evenly between processes, and hands over those of a stopping one at once', async () => {
  await waitForLanes([64]);
  const tenants = Array.from({ length: 12 }, () => newTenant(Environment.TEST));
  const subscribers = await Promise.all(
    tenants.map(async (tenant) => ({ tenant, ...(await webhooks.subscribed(tenant)) })),
  );
  const published = new Map<string, string[]>(tenants.map(({ merchantId }) => [merchantId, []]));
  let running = true;
  const publishing = (async () => {
    for (let at = 0; running; at += 1) {
      const tenant = tenants[at % tenants.length]!;
      const { id } = await webhooks.publish(tenant);
      published.get(tenant.merchantId)!.push(id);
    }
  })();
  second = await startHarness(SETTINGS, undefined, webhooks.harness.databaseUrl);
  second.services.startWebhookLanes();
  await waitForLanes([32, 32]);
  const stoppedAt = performance.now();
  await second.close();
  second = undefined;
  await waitForLanes([64]);
  // Not by the end of a lease, which lasts four seconds.
  expect(performance.now() - stoppedAt).toBeLessThan(3_000);
  running = false;
  await publishing;
  await vi.waitFor(
    () => {
      for (const { tenant, endpoint } of subscribers) {
        expect(endpoint.eventIds.toSorted()).toEqual(published.get(tenant.merchantId)!.toSorted());
      }
    },
    { timeout: 20_000 },
  );
});

it('a process that stops aborts attempts that hang in time, and they are made again soon', async () => {
  const tenants = Array.from({ length: 12 }, () => newTenant(Environment.TEST));
  const endpoints = await Promise.all(tenants.map((tenant) => webhooks.subscribed(tenant)));
  second = await startHarness(SETTINGS, undefined, webhooks.harness.databaseUrl);
  second.services.startWebhookLanes();
  await waitForLanes([32, 32]);
  const held = endpoints.map(({ endpoint }) => endpoint.hold());
  for (const tenant of tenants) await webhooks.publish(tenant);
  await eventually(() => expect(held.map(({ count }) => count)).toEqual(Array(12).fill(1)));
  const stoppedAt = performance.now();
  await second.close();
  // Process managers kill after ten seconds.
  expect(performance.now() - stoppedAt).toBeLessThan(9_000);
  second = undefined;
  for (const { endpoint } of endpoints) endpoint.answer(200);
  for (const each of held) each.release(200);
  const waitsMs = await Promise.all(
    tenants.map(async (tenant) => {
      const { deliveries } = await webhooks.deliveries.listDeliveries(tenant);
      const { id: deliveryId } = deliveries.find(({ eventType }) => eventType !== 'webhook.ping.v1')!;
      const { delivery, attempts } = await webhooks.deliveries.getDelivery({ ...tenant, deliveryId });
      if (attempts[0]!.failure !== AttemptFailure.WORKER_LOST) return [];
      const dueAt = timestampMs(delivery!.nextAttemptAt!);
      await webhooks.attemptAgain(tenant, deliveryId);
      return [dueAt - timestampMs(attempts[0]!.endedAt!)];
    }),
  );
  // Those of its lanes.
  expect(waitsMs.flat().length).toBeGreaterThan(0);
  expect(Math.max(...waitsMs.flat())).toBeLessThanOrEqual(6_000);
  for (const tenant of tenants) {
    await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED']));
  }
});

/** Another process takes the lane of a subscription, as after a pause of its owner, and dies. */
const takeLaneOf = (subscriptionId: string) =>
  webhooks.sql(
    'update webhooks.lane set owner_id = null, epoch = epoch + 1 where id = webhooks.lane_of($1)',
    [subscriptionId],
  );

it("refuses reports of a lane's former owner, and the new owner sends the deliveries", async () => {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await webhooks.subscribed(tenant);
  let isTaken = false;
  endpoint.answer(async (_request, response) => {
    if (!isTaken) await takeLaneOf(id);
    isTaken = true;
    response.writeHead(200).end();
  });
  const event = await webhooks.publish(tenant);
  await vi.waitFor(() => expect(endpoint.eventIds).toEqual([event.id, event.id]), { timeout: 20_000 });
  await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED']));
  const attempts = await webhooks.sql(
    'select started_at from webhooks.delivery_attempt a join webhooks.delivery d on d.id = a.delivery_id where d.event_id = $1',
    [event.id],
  );
  expect(attempts).toHaveLength(1);
});

it('sends again at once what was in flight while its lane was lost and taken again', async () => {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await webhooks.subscribed(tenant);
  const held = endpoint.hold();
  const event = await webhooks.publish(tenant);
  await eventually(() => expect(held.count).toBe(1));
  await takeLaneOf(id);
  await waitForLanes([63]);
  await waitForLanes([64]);
  endpoint.answer(200);
  held.release(200);
  // Not by the next check of all deliveries, which may be half a minute away.
  await vi.waitFor(() => expect(endpoint.eventIds).toEqual([event.id, event.id]), { timeout: 5_000 });
  await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED']));
});
