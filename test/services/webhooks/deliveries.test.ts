import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { answered, webhooksFixture } from './webhooks-fixture.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
});
afterAll(() => harness.close());

describe('DeliveryService', () => {
  const fixture = () => webhooksFixture(harness, harness.transports.inProcess);

  it('lists deliveries newest first, by subscription, event and status', async () => {
    const tenant = newTenant();
    const subscription = await fixture().subscribe(tenant);
    const other = await fixture().subscribe(tenant);
    const event = await fixture().publish(tenant);
    const [key] = (await fixture().claimKeys()).slice(0, 1);
    await fixture().report(answered(key!.deliveryId, await fixture().send(key!), 200));
    const list = (filter: object) => fixture().deliveries.listDeliveries({ ...tenant, ...filter });
    const seen = (await list({})).deliveries.map(({ id }) => id);
    expect(seen).toHaveLength(4);
    expect(seen).toEqual([...seen].sort().reverse());
    const ofEvent = await list({ eventId: event.id });
    expect(ofEvent.deliveries.map(({ subscriptionId }) => subscriptionId).sort()).toEqual(
      [subscription.id, other.id].sort(),
    );
    const ofSubscription = await list({ subscriptionId: other.id, eventId: event.id });
    expect(ofSubscription.deliveries).toHaveLength(1);
    const done = await list({ status: DeliveryStatus.SUCCEEDED });
    expect(done.deliveries.map(({ id }) => id)).toEqual([key!.deliveryId]);
  });

  it('lists deliveries with their last attempts on request', async () => {
    const tenant = newTenant();
    await fixture().subscribe(tenant);
    const [key] = await fixture().claimKeys();
    const list = async (withLastAttempt: boolean) =>
      (await fixture().deliveries.listDeliveries({ ...tenant, withLastAttempt })).deliveries[0]!;
    expect((await list(true)).lastAttempt).toBeUndefined();
    await fixture().report(answered(key!.deliveryId, await fixture().send(key!), 500));
    await fixture().sql(`update webhooks.open_delivery set next_attempt_at = now() where id = $1`, [
      key!.deliveryId,
    ]);
    await fixture().report(
      answered(key!.deliveryId, await fixture().send({ deliveryId: key!.deliveryId }), 503),
    );
    const { lastAttempt } = await list(true);
    expect(lastAttempt).toMatchObject({ number: 2, httpStatus: 503, latencyMs: 12 });
    expect(lastAttempt!.responseExcerpt).toBeUndefined();
    expect((await list(false)).lastAttempt).toBeUndefined();
  });

  it('returns the workflow of a delivery and its attempts', async () => {
    const tenant = newTenant();
    await fixture().subscribe(tenant);
    const [key] = await fixture().claimKeys();
    const get = async () => fixture().deliveries.getDelivery({ ...tenant, deliveryId: key!.deliveryId });
    const claimed = (await get()).delivery!;
    expect(claimed).toMatchObject({
      status: DeliveryStatus.PENDING,
      eventType: 'webhook.ping.v1',
      workflowId: `batch-${key!.batchId}`,
      attemptCount: 0,
    });
    expect(Math.abs(timestampDate(claimed.createdAt!).getTime() - Date.now())).toBeLessThan(10_000);
    await fixture().report(answered(key!.deliveryId, await fixture().send(key!), 500));
    const { delivery, attempts } = await get();
    expect(delivery).toMatchObject({
      status: DeliveryStatus.RETRYING,
      workflowId: `delivery-${key!.deliveryId}`,
      attemptCount: 1,
    });
    expect(attempts).toMatchObject([{ number: 1, httpStatus: 500, responseExcerpt: 'ok' }]);
  });

  it('does not find deliveries of another merchant or environment', async () => {
    const tenant = newTenant();
    await fixture().subscribe(tenant);
    const [key] = await fixture().claimKeys();
    for (const other of [{ ...tenant, environment: Environment.TEST }, newTenant()]) {
      const asked = fixture().deliveries.getDelivery({ ...other, deliveryId: key!.deliveryId });
      await expectRefusal(asked, Code.NotFound, 'DELIVERY_NOT_FOUND');
      expect((await fixture().deliveries.listDeliveries(other)).deliveries).toEqual([]);
    }
  });

  it('rejects contradictory reports', async () => {
    const attempt = { attemptNumber: 1, generation: 1n };
    const report = answered(randomUUID(), attempt, 200);
    const { httpStatus: _, ...without } = report;
    const both = { ...report, failure: 1 };
    const running = { ...without, stillRunning: true };
    for (const wrong of [without, both, running]) {
      await expectRefusal(fixture().report(wrong), Code.InvalidArgument, 'ATTEMPT_REPORT');
    }
    const [outcome] = await fixture().report(report);
    expect(outcome).toMatchObject({ deliveryId: report.deliveryId, status: DeliveryStatus.CANCELED });
  });
});
