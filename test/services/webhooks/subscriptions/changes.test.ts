import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';

let tenant: TestTenant;
const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(() => {
  tenant = newTenant(Environment.TEST);
});

const write = (subscriptionId: string) => ({ ...newWrite(tenant), subscriptionId });

/**
 * A subscription whose endpoint gets one request at a time and answers none, so that the other events wait in memory.
 */
async function stalled(events: number) {
  const { id, endpoint } = await webhooks.subscribed(tenant);
  await webhooks.subscriptions.setDeliveryLimits({ ...write(id), maxConcurrentAttempts: 1 });
  await delay(1_000);
  const held = endpoint.hold();
  const eventIds = await webhooks.publishMany(tenant, events);
  await eventually(() => expect(held.count).toBe(1));
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, subscriptionId: id });
  const deliveryOf = (eventId: string) => deliveries.find((delivery) => delivery.eventId === eventId)!.id;
  const flow = () => {
    endpoint.answer(200);
    held.release(200);
  };
  return { id, endpoint, eventIds, deliveryOf, flow };
}

describe("a delivery waiting in the memory of its lane's owner", () => {
  it('is not sent a second after its delivery was canceled', async () => {
    const { endpoint, eventIds, deliveryOf, flow } = await stalled(5);
    const [first, canceled, ...others] = eventIds;
    await webhooks.deliveries.cancelDelivery({ ...newWrite(tenant), deliveryId: deliveryOf(canceled!) });
    await delay(1_000);
    flow();
    await eventually(() => expect(endpoint.eventIds).toHaveLength(4));
    expect(endpoint.eventIds).toEqual([first, ...others]);
  });

  it('is not sent a second after its resend was canceled', async () => {
    const { endpoint, eventIds, flow } = await stalled(3);
    const { resend } = await webhooks.deliveries.resendDeliveries({
      ...newWrite(tenant),
      selection: { case: 'eventId', value: eventIds[0]! },
    });
    const resendId = resend!.id;
    await webhooks.dispatch.continueResend({ resendId, maxDeliveries: 10 });
    await delay(500);
    await webhooks.deliveries.cancelResend({ ...newWrite(tenant), resendId });
    await delay(1_000);
    flow();
    await eventually(() => expect(endpoint.eventIds).toEqual(eventIds));
    const last = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toEqual([...eventIds, last.id]));
  });

  it('is not sent after its subscription was disabled and reactivated, which sends a new ping', async () => {
    const { id, endpoint, eventIds, flow } = await stalled(4);
    await webhooks.subscriptions.disableWebhookSubscription(write(id));
    const { missed } = await webhooks.subscriptions.reactivateWebhookSubscription(write(id));
    await delay(1_000);
    flow();
    await eventually(async () =>
      expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.ACTIVE),
    );
    const fresh = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventIds[0], fresh.id]));
    const { resend } = await webhooks.deliveries.resendDeliveries({
      ...newWrite(tenant),
      subscriptionId: id,
      selection: { case: 'missed', value: missed! },
    });
    await webhooks.dispatch.continueResend({ resendId: resend!.id, maxDeliveries: 10 });
    await eventually(() => expect(new Set(endpoint.eventIds)).toEqual(new Set([...eventIds, fresh.id])));
  });

  it('follows a changed URL from the ping on; a late response of the old endpoint changes no state', async () => {
    const { id, endpoint, eventIds, flow } = await stalled(3);
    const next = webhooks.endpoint();
    next.answer(500);
    const { subscription } = await webhooks.subscriptions.updateWebhookSubscription({
      ...write(id),
      url: next.url,
    });
    expect(subscription).toMatchObject({ url: next.url, state: WebhookSubscriptionState.PENDING });
    await delay(1_000);
    flow();
    await eventually(() => expect(next.requests).toHaveLength(3));
    expect(next.requests.filter(({ body }) => body.includes('webhook.ping.v1'))).toHaveLength(1);
    expect(next.eventIds.toSorted()).toEqual(eventIds.slice(1).toSorted());
    await eventually(async () => expect((await webhooks.statuses(tenant))[0]).toBe('SUCCEEDED'));
    expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.PENDING);
    next.answer(200);
    await webhooks.publish(tenant);
    await eventually(async () =>
      expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.ACTIVE),
    );
    expect(endpoint.eventIds).toEqual([eventIds[0]]);
  });

  it('is sent even if its event type was removed in the meantime; new events are not', async () => {
    const { id, endpoint, eventIds, flow } = await stalled(3);
    const types = ['refund.requested.v1'];
    await webhooks.subscriptions.updateWebhookSubscription({ ...write(id), eventTypes: types });
    await webhooks.publish(tenant);
    flow();
    await eventually(() => expect(endpoint.eventIds.toSorted()).toEqual(eventIds.toSorted()));
    expect(await webhooks.statuses(tenant)).toHaveLength(3);
  });

  it.each(['disabled', 'deleted'])('is not sent a second after its subscription was %s', async (change) => {
    const { id, endpoint, eventIds, flow } = await stalled(4);
    const { disableWebhookSubscription, deleteWebhookSubscription } = webhooks.subscriptions;
    await (change === 'disabled' ? disableWebhookSubscription : deleteWebhookSubscription)(write(id));
    await delay(1_000);
    flow();
    expect(await webhooks.statuses(tenant)).toEqual(['CANCELED', 'CANCELED', 'CANCELED', 'CANCELED']);
    // Its ping is sent after what would be sent.
    await webhooks.subscribed(tenant);
    expect(endpoint.eventIds).toEqual([eventIds[0]]);
  });
});

describe('disabling', () => {
  it('leaves no delivery open under concurrent publishing, sending and recording', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    let answers = 0;
    endpoint.answer((_request, response) => {
      answers += 1;
      response.writeHead(answers % 3 ? 200 : 500).end();
    });
    let disabled = false;
    const publish = async () => {
      while (!disabled) await webhooks.publish(tenant);
    };
    const disable = async () => {
      await eventually(() => expect(answers).toBeGreaterThan(20));
      await webhooks.subscriptions.disableWebhookSubscription(write(id));
      await delay(100);
      disabled = true;
    };
    await Promise.all([publish(), publish(), disable()]);
    const open = () =>
      webhooks.sql('select status from webhooks.open_delivery where subscription_id = $1', [id]);
    expect(await open()).toEqual([]);
    const sent = endpoint.requests.length;
    await delay(1_000);
    expect(await open()).toEqual([]);
    // At most those in flight when it was disabled, and those that began until its owner knew.
    const sentWithinSecond = endpoint.requests.length;
    expect(sentWithinSecond - sent).toBeLessThan(60);
    await delay(500);
    expect(endpoint.requests).toHaveLength(sentWithinSecond);
    expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.DISABLED);
  });
});
