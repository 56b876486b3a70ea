import { describe, expect, it } from 'vitest';
import { newTenant } from '../../../support/harness.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';
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
});
