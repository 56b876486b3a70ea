import { beforeEach, describe, expect, it } from 'vitest';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { ResendState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant } from '../../../support/harness.ts';
import { answered, startWebhooks } from '../attempts/attempts-fixture.ts';
import { resendFixture } from './resend-fixture.ts';

const { COMPLETED, CANCELED } = ResendState;

const { harness, attempts } = await startWebhooks();
const fixture = resendFixture(harness, harness.transports.grpc, attempts);
beforeEach(async () => {
  await fixture.deliverAll();
  await fixture.claimAllCommands();
});

describe('a resend that is canceled', () => {
  it('creates no more deliveries, and cancels open ones with their workflows', async () => {
    const tenant = newTenant();
    const { id } = await fixture.begun(tenant, 50);
    await fixture.goOn(id, 30);
    const [done, failed, late] = await attempts.due(tenant.merchantId);
    await attempts.record(answered(done!, 200), answered(failed!, 500));
    await fixture.claimAllCommands();
    const canceled = await fixture.cancel(tenant, id);
    const counts = { madeCount: 30n, succeededCount: 1n, canceledCount: 29n, openCount: 0n };
    expect(canceled).toMatchObject({ state: CANCELED, ...counts });
    const commands = await fixture.claimCommands();
    expect(commands.map(({ kind, workflowId }) => [kind, workflowId])).toEqual([
      [WorkflowCommandKind.CANCEL, `resend-${id}`],
      [WorkflowCommandKind.CANCEL, `delivery-${failed!.deliveryId}`],
    ]);
    expect(await fixture.goOn(id)).toMatchObject({
      more: false,
      resend: { state: CANCELED, madeCount: 30n },
    });
    expect(await attempts.record(answered(late!, 500))).toMatchObject([{ status: 'CANCELED' }]);
    expect(await fixture.deliverAll()).toEqual([]);
    expect(await fixture.cancel(tenant, id)).toEqual(canceled);
    expect(await fixture.get(tenant, id)).toEqual(canceled);
  });

  it('cancels all that an endpoint which fails has left open', async () => {
    const tenant = newTenant();
    const { id } = await fixture.begun(tenant, 1);
    await fixture.goOn(id);
    await fixture.sql(
      `with more as (
         insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
           object_id, sequence, request_id, resend_id, ordered, status, attempt_count, next_attempt_at)
         select merchant_id, environment, uuidv7(), subscription_id, lane, event_id, event_type,
                object_id, sequence, request_id, resend_id, ordered, 'HELD', 1, next_attempt_at
           from webhooks.open_delivery cross join generate_series(1, 1200) where resend_id = $1
         returning id
       )
       update webhooks.resend set open_ids = open_ids || array(select id from more), made_count = 1201 where id = $1`,
      [id],
    );
    const counts = { madeCount: 1201n, canceledCount: 1201n, openCount: 0n };
    expect(await fixture.cancel(tenant, id)).toMatchObject({ state: CANCELED, ...counts });
  });

  it('does not change when it has completed', async () => {
    const tenant = newTenant();
    const { id } = await fixture.begun(tenant, 2);
    const done = await fixture.toEnd(id);
    expect(await fixture.cancel(tenant, id)).toEqual(done);
    expect(done.state).toBe(COMPLETED);
  });

  it('leaves no delivery open when it continues at the same moment', async () => {
    for (let n = 0; n < 5; n += 1) {
      const tenant = newTenant();
      const { id } = await fixture.begun(tenant, 30);
      await fixture.goOn(id, 10);
      await Promise.all([fixture.goOn(id), fixture.cancel(tenant, id), fixture.goOn(id)]);
      const statuses = (await fixture.madeOf(id)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set(['CANCELED']));
      const { madeCount, canceledCount } = await fixture.get(tenant, id);
      expect([Number(madeCount), Number(canceledCount)]).toEqual([statuses.length, statuses.length]);
    }
  });
});

it('leaves no delivery open of a subscription that is disabled at the same moment', async () => {
  for (let n = 0; n < 5; n += 1) {
    const tenant = newTenant();
    const { id, subscriptionId } = await fixture.begun(tenant, 30);
    await Promise.all([fixture.goOn(id, 10), fixture.disable(tenant, subscriptionId), fixture.goOn(id, 10)]);
    expect((await fixture.madeOf(id)).filter(({ status }) => status !== 'CANCELED')).toEqual([]);
    expect((await fixture.goOn(id)).resend!.state).toBe(COMPLETED);
  }
});
