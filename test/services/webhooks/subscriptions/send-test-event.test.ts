import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newKey, newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const { harness, attempts } = await startWebhooks();
const fixture = webhooksFixture(harness, harness.transports.grpc);

const sendTestEvent = async (tenant: TestTenant, subscriptionId: string, idempotencyKey = newKey()) =>
  (await fixture.subscriptions.sendTestEvent({ ...tenant, idempotencyKey, subscriptionId })).eventId;

const deliveriesOf = async (tenant: TestTenant, eventId: string) =>
  (await fixture.deliveries.listDeliveries({ ...tenant, eventId })).deliveries;

const deliverAll = () => attempts.answerAll(204);

describe('SendTestEvent', () => {
  it('pings only the given subscription', async () => {
    const tenant = newTenant();
    const { id } = await fixture.subscribe(tenant);
    await fixture.subscribe(tenant);
    const eventId = await sendTestEvent(tenant, id);
    await deliverAll();
    const { event } = await fixture.events.getEvent({ ...tenant, eventId });
    expect(event).toMatchObject({ type: 'webhook.ping.v1', objectId: id, data: { subscriptionId: id } });
    expect(await deliveriesOf(tenant, eventId)).toMatchObject([
      { subscriptionId: id, eventType: 'webhook.ping.v1', status: DeliveryStatus.SUCCEEDED },
    ]);
  });

  it('waits while the subscription is paused, and is sent once it is resumed', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.subscriptions.pauseWebhookSubscription({ ...newWrite(tenant), subscriptionId });
    const eventId = await sendTestEvent(tenant, subscriptionId);
    await deliverAll();
    expect(await deliveriesOf(tenant, eventId)).toMatchObject([{ status: DeliveryStatus.HELD }]);
    await fixture.subscriptions.resumeWebhookSubscription({ ...newWrite(tenant), subscriptionId });
    await deliverAll();
    expect(await deliveriesOf(tenant, eventId)).toMatchObject([{ status: DeliveryStatus.SUCCEEDED }]);
  });

  it('refuses a disabled subscription, and publishes nothing', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.subscriptions.disableWebhookSubscription({ ...newWrite(tenant), subscriptionId });
    await expectRefusal(
      sendTestEvent(tenant, subscriptionId),
      Code.FailedPrecondition,
      'WEBHOOK_SUBSCRIPTION_STATE',
      { state: 'DISABLED' },
    );
    expect((await fixture.events.listEvents({ ...tenant })).events).toHaveLength(1);
  });
});
