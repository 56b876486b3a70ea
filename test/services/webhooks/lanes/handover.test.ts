import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EVENTS_CHANNEL } from '../../../../services/platform/outbox/outbox-signal.ts';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

/** The notifications to other processes. */
const notified: string[] = [];
const webhooks = await startLanesFixture();
const listener = await openSession(webhooks.harness.databaseUrl);
listener.on('notification', ({ payload = '' }) => notified.push(payload.split(' ')[1]!));
await listener.query(`listen ${EVENTS_CHANNEL}`);
afterAll(async () => {
  await listener.end();
  await webhooks[Symbol.asyncDispose]();
});

const countNotified = () => notified.filter((work) => work === 'EVENTS').length;

it("sends the deliveries that the lane's owner has published itself, once each, without notifying other processes", async () => {
  const tenant = newTenant(Environment.TEST);
  const { id: subscriptionId, endpoint } = await webhooks.subscribed(tenant);
  // Within a second the owner reads that the subscription is ACTIVE; it leaves what commits at that moment in the table.
  await delay(1_000);
  const before = countNotified();
  const published: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    published.push((await webhooks.publish(tenant)).id);
    await eventually(() => expect(endpoint.eventIds).toEqual(published));
  }
  expect(countNotified()).toBe(before);

  // A delivery that is not sent now is left to the later owner of the lane.
  await webhooks.subscriptions.pauseWebhookSubscription({ ...newWrite(tenant), subscriptionId });
  await webhooks.publish(tenant);
  await eventually(() => expect(countNotified()).toBeGreaterThan(before));
  expect(endpoint.eventIds).toEqual(published);
});
