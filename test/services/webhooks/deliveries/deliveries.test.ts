import { timestampDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant } from '../../../support/harness.ts';
import { answered, startWebhooks } from '../attempts/attempts-fixture.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const { harness, attempts } = await startWebhooks();

describe('DeliveryService', () => {
  const fixture = () => webhooksFixture(harness, harness.transports.inProcess);

  it('lists deliveries with their last attempts on request', async () => {
    const tenant = newTenant();
    await fixture().subscribe(tenant);
    const list = async (withLastAttempt: boolean) =>
      (await fixture().deliveries.listDeliveries({ ...tenant, withLastAttempt })).deliveries[0]!;
    expect((await list(true)).lastAttempt).toBeUndefined();
    const [{ deliveryId } = { deliveryId: '' }] = await attempts.answerAll(500, tenant.merchantId);
    await fixture().dispatch.requestAttempt({ deliveryId, now: true });
    await attempts.answerAll(503, tenant.merchantId);
    const { lastAttempt } = await list(true);
    expect(lastAttempt).toMatchObject({ number: 2, httpStatus: 503, latencyMs: 12 });
    expect(lastAttempt!.responseExcerpt).toBeUndefined();
    expect((await list(false)).lastAttempt).toBeUndefined();
  });

  it.each([
    { httpStatus: 200, status: DeliveryStatus.SUCCEEDED },
    { httpStatus: 500, status: DeliveryStatus.RETRYING },
  ])('returns the workflow of a delivery and its attempts: $httpStatus', async ({ httpStatus, status }) => {
    const tenant = newTenant();
    await fixture().subscribe(tenant);
    // The first success makes a subscription ACTIVE; those after it are recorded together.
    await attempts.answerAll(200, tenant.merchantId);
    await fixture().publish(tenant);
    const [attempt] = await attempts.due(tenant.merchantId);
    const { deliveryId } = attempt!;
    const get = async () => fixture().deliveries.getDelivery({ ...tenant, deliveryId });
    const queued = (await get()).delivery!;
    expect(queued).toMatchObject({ status: DeliveryStatus.PENDING, workflowId: '', attemptCount: 0 });
    expect(Math.abs(timestampDate(queued.createdAt!).getTime() - Date.now())).toBeLessThan(10_000);
    await attempts.record(answered(attempt!, httpStatus));
    const found = await get();
    const workflowId = httpStatus === 200 ? 'deliveries-of-the-test' : `delivery-${deliveryId}`;
    expect(found.delivery).toMatchObject({ status, workflowId, attemptCount: 1 });
    expect(found.attempts).toMatchObject([{ number: 1, httpStatus, responseExcerpt: 'ok' }]);
  });
});
