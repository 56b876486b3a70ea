import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as recordDeliveries from '../../../services/contracts/webhooks/record-deliveries.contract.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { newTenant } from '../../support/harness.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { DeliverySystem, SOON } from './delivery-system.ts';

let system: DeliverySystem;
beforeAll(async () => {
  system = await DeliverySystem.start({});
}, TEMPORAL_START_MS);
afterAll(() => system?.[Symbol.asyncDispose]());

const workflowOf = (workflowId: string) => system.temporal.client.workflow.getHandle(workflowId);

/** A workflow for this many deliveries, one of each merchant. */
async function record(count: number) {
  const workflowId = recordDeliveries.workflowId(new Date(), 'test', `of-${count}`);
  const deliveries = Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    merchantId: crypto.randomUUID(),
    subscriptionId: crypto.randomUUID(),
    requestId: crypto.randomUUID(),
    eventType: 'payment.succeeded.v1',
    httpStatus: 204,
  }));
  await system.webhooks.sql(
    'insert into webhooks.delivery_record (workflow_id, deliveries) values ($1, $2)',
    [workflowId, JSON.stringify(deliveries)],
  );
  const args: [recordDeliveries.RecordDeliveriesInput] = [{ workflowId, environment: 'test' }];
  const options = { taskQueue: TASK_QUEUE, workflowId, args };
  const workflow = await system.temporal.client.workflow.start(recordDeliveries.workflowType, options);
  expect(await workflow.result()).toEqual({ succeeded: count, deliveries });
  const attributes = (await workflow.describe()).typedSearchAttributes.getAll();
  return attributes.map(({ key }) => key.name).filter((name) => !name.startsWith('Build'));
}

describe('the workflow of deliveries that succeeded without a retry workflow', () => {
  it('is named by each of them, lists them, and is found by merchant, subscription and request', async () => {
    const subscriber = await system.subscriber();
    // An attempt that takes more than 1.5 s gets a retry workflow; the first one also has to connect.
    const { id: firstId } = await system.webhooks.publish(subscriber.tenant);
    await system.becomes(subscriber, firstId, DeliveryStatus.SUCCEEDED);
    const events = await Promise.all([1, 2, 3].map(() => system.webhooks.publish(subscriber.tenant)));
    for (const { id: eventId, requestId } of events) {
      const delivery = await system.becomes(subscriber, eventId, DeliveryStatus.SUCCEEDED);
      expect(delivery.workflowId).toMatch(/^deliveries-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ-test-[0-9a-f]{6}$/);
      await vi.waitFor(async () => {
        const { deliveries } = await workflowOf(delivery.workflowId).result();
        expect(deliveries).toContainEqual({
          id: delivery.id,
          merchantId: subscriber.tenant.merchantId,
          subscriptionId: subscriber.subscriptionId,
          requestId,
          eventType: 'payment.succeeded.v1',
          httpStatus: 200,
        });
        const { merchantId } = subscriber.tenant;
        expect(await system.find(`MerchantIds = '${merchantId}'`)).toContain(delivery.workflowId);
        expect(await system.find(`SubscriptionIds = '${subscriber.subscriptionId}'`)).toContain(
          delivery.workflowId,
        );
        expect(await system.find(`RequestIds = '${requestId}'`)).toEqual([delivery.workflowId]);
      }, SOON);
      await vi.waitFor(async () => expect(await system.startsOf(delivery.workflowId)).toEqual([]), SOON);
    }
  });

  it('lists pings and the deliveries of ordered subscriptions, too', async () => {
    const tenant = newTenant(Environment.TEST);
    const { id: subscriptionId } = await system.webhooks.subscribed(tenant, { ordered: true });
    await system.webhooks.publish(tenant);
    await vi.waitFor(async () => {
      const { deliveries } = await system.webhooks.deliveries.listDeliveries({ ...tenant, subscriptionId });
      expect(deliveries).toHaveLength(2);
      for (const { id, workflowId } of deliveries) {
        const { deliveries: listed } = await workflowOf(workflowId).result();
        expect(listed).toContainEqual(expect.objectContaining({ id, subscriptionId, httpStatus: 200 }));
      }
    }, SOON);
  });

  it('is found by all of 40 deliveries, and by its id alone if there are more', async () => {
    const [few, many] = await Promise.all([record(40), record(41)]);
    expect(few.sort()).toEqual(['Environment', 'MerchantIds', 'RequestIds', 'SubscriptionIds']);
    expect(many).toEqual([]);
  });
});
