import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant } from '../../../support/harness.ts';
import { type LanesFixture, startLanesFixture } from '../lanes-fixture.ts';

let webhooks: LanesFixture;
beforeAll(async () => {
  webhooks = await startLanesFixture();
});
afterAll(() => webhooks[Symbol.asyncDispose]());

it('sends the ping and then events, and records the responses', async () => {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await webhooks.subscribed(tenant);
  await vi.waitFor(async () => {
    const { subscription } = await webhooks.subscriptions.getWebhookSubscription({
      ...tenant,
      subscriptionId: id,
    });
    expect(subscription!.state).toBe(WebhookSubscriptionState.ACTIVE);
  });
  const events = await Promise.all(Array.from({ length: 5 }, () => webhooks.publish(tenant)));
  await vi.waitFor(() =>
    expect(endpoint.eventIds.toSorted()).toEqual(events.map((event) => event.id).sort()),
  );
  await vi.waitFor(async () => expect(await webhooks.statuses(tenant)).toEqual(Array(5).fill('SUCCEEDED')));
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 1 });
  const { delivery, attempts } = await webhooks.deliveries.getDelivery({
    ...tenant,
    deliveryId: deliveries[0]!.id,
  });
  expect(attempts).toMatchObject([{ number: 1, httpStatus: 200, responseExcerpt: '' }]);
  expect(delivery!.workflowId).toMatch(/^deliveries-\d{4}-/);
});

it('leaves a delivery that failed to its retry workflow', async () => {
  const tenant = newTenant(Environment.TEST);
  const { endpoint } = await webhooks.subscribed(tenant);
  endpoint.answer(503);
  await webhooks.publish(tenant);
  await vi.waitFor(async () => {
    const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, withLastAttempt: true });
    expect(deliveries[0]).toMatchObject({
      status: DeliveryStatus.RETRYING,
      lastAttempt: { httpStatus: 503 },
    });
  });
  const { deliveries } = await webhooks.deliveries.listDeliveries(tenant);
  const { id } = deliveries[0]!;
  const commands = await webhooks.claimCommands();
  expect(commands.map(({ workflowId }) => workflowId)).toContain(`delivery-${id}`);
  const { attemptNumber } = await webhooks.dispatch.requestAttempt({ deliveryId: id, now: true });
  expect(attemptNumber).toBe(2);
  const awaited = await webhooks.dispatch.awaitAttempt({ deliveryId: id, attemptNumber: 2, waitMs: 10_000 });
  const state = { status: DeliveryStatus.RETRYING, lastAttemptNumber: 2, httpStatus: 503 };
  expect(awaited).toMatchObject({ ended: true, state });
  expect(endpoint.eventIds).toHaveLength(2);
});
