import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newKey, newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { type ResendDesk, resendDesk } from './resend-desk.ts';

let house: TestHouse;
beforeAll(async () => {
  house = await startHouse({ SERVICES: 'webhooks' });
});
afterAll(() => house.close());

describe.each(['inProcess', 'grpc'] as const)('a resend over %s', (way) => {
  let desk: ResendDesk;
  beforeEach(async () => {
    desk = resendDesk(house, house.transports[way]);
    await desk.deliverAll();
  });

  it('keeps to its merchant and environment', async () => {
    const tenant = newTenant();
    const requestId = randomUUID();
    const strangers = [newTenant(), { ...tenant, environment: Environment.TEST }];
    for (const one of [tenant, ...strangers]) {
      await desk.subscribe(one);
      await desk.publish(one, undefined, requestId);
    }
    const event = await desk.publish(tenant);
    await desk.deliverAll();
    const { id: subscriptionId } = await desk.subscribe(tenant, ['refund.failed.v1']);
    await desk.deliverAll();
    const resend = await desk.resend(tenant, { case: 'requestId', value: requestId });
    expect(await desk.goOn(resend.id)).toMatchObject({
      more: false,
      resend: { expectedCount: 1n, madeCount: 1n },
    });
    await desk.deliverAll();
    for (const stranger of strangers) {
      const key = { ...stranger, resendId: resend.id };
      await expectRefusal(desk.deliveries.getResend(key), Code.NotFound, 'RESEND_NOT_FOUND');
      const canceled = desk.deliveries.cancelResend({ ...key, idempotencyKey: newKey() });
      await expectRefusal(canceled, Code.NotFound, 'RESEND_NOT_FOUND');
      expect((await desk.deliveries.listResends(stranger)).resends).toEqual([]);
      const ofEvent = desk.resend(stranger, { case: 'eventId', value: event.id });
      await expectRefusal(ofEvent, Code.NotFound, 'EVENT_NOT_FOUND');
      const toOther = desk.resend(stranger, { case: 'requestId', value: requestId }, { subscriptionId });
      await expectRefusal(toOther, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
    }
  });

  it('is refused for what it cannot be, and beyond ten that run', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    const { id: disabled } = await desk.subscribe(tenant);
    await desk.disable(tenant, disabled);
    const now = Date.now();
    const period = (from: number, to: number, more = {}) =>
      desk.resend(tenant, { case: 'period', value: desk.period(from, to) }, more);
    await expectRefusal(period(now - 1, now), Code.InvalidArgument, 'RESEND_SELECTION');
    for (const to of [now, now - 1]) {
      await expectRefusal(period(now, to, { subscriptionId }), Code.InvalidArgument, 'RESEND_SELECTION');
    }
    const toDisabled = period(now - 1, now, { subscriptionId: disabled });
    await expectRefusal(toDisabled, Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_STATE');
    await expectRefusal(desk.goOn(randomUUID()), Code.NotFound, 'RESEND_NOT_FOUND');
    const asked = Array.from({ length: 13 }, () =>
      period(now - 1, now, { subscriptionId }).catch((error) => error),
    );
    const begun = (await Promise.all(asked)).filter((answer) => !(answer instanceof Error));
    expect(begun).toHaveLength(10);
    const another = period(now - 1, now, { subscriptionId });
    await expectRefusal(another, Code.FailedPrecondition, 'RESEND_LIMIT_REACHED');
    await desk.goOn(begun[0]!.id);
    await period(now - 1, now, { subscriptionId });
  });

  it('answers the same key with the same resend', async () => {
    const tenant = newTenant();
    await desk.subscribe(tenant);
    const event = await desk.publish(tenant);
    const request = {
      ...{ ...tenant, idempotencyKey: newKey() },
      selection: { case: 'eventId' as const, value: event.id },
    };
    const { resend } = await desk.deliveries.resendDeliveries(request);
    expect((await desk.deliveries.resendDeliveries(request)).resend).toEqual(resend);
    expect((await desk.deliveries.listResends(tenant)).resends).toHaveLength(1);
    const other = desk.deliveries.resendDeliveries({ ...request, onlyFailed: true });
    await expectRefusal(other, Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
  });
});
