import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';
import { type ResendFixture, resendFixture } from './resend-fixture.ts';

const { harness, attempts } = await startWebhooks();

describe('a resend', () => {
  let fixture: ResendFixture;
  beforeEach(async () => {
    fixture = resendFixture(harness, harness.transports.inProcess, attempts);
    await fixture.deliverAll();
  });

  it('is limited to its merchant and environment', async () => {
    const tenant = newTenant();
    const requestId = randomUUID();
    const strangers = [newTenant(), { ...tenant, environment: Environment.TEST }];
    for (const one of [tenant, ...strangers]) {
      await fixture.subscribe(one);
      await fixture.publish(one, undefined, requestId);
    }
    const event = await fixture.publish(tenant);
    await fixture.deliverAll();
    const { id: subscriptionId } = await fixture.subscribe(tenant, ['refund.failed.v1']);
    await fixture.deliverAll();
    const resend = await fixture.resend(tenant, { case: 'requestId', value: requestId });
    expect(await fixture.goOn(resend.id)).toMatchObject({
      more: false,
      resend: { expectedCount: 1n, madeCount: 1n },
    });
    await fixture.deliverAll();
    for (const stranger of strangers) {
      const key = { ...stranger, resendId: resend.id };
      await expectRefusal(fixture.deliveries.getResend(key), Code.NotFound, 'RESEND_NOT_FOUND');
      const canceled = fixture.deliveries.cancelResend(newWrite(key));
      await expectRefusal(canceled, Code.NotFound, 'RESEND_NOT_FOUND');
      expect((await fixture.deliveries.listResends(stranger)).resends).toEqual([]);
      const ofEvent = fixture.resend(stranger, { case: 'eventId', value: event.id });
      await expectRefusal(ofEvent, Code.NotFound, 'EVENT_NOT_FOUND');
      const toOther = fixture.resend(stranger, { case: 'requestId', value: requestId }, { subscriptionId });
      await expectRefusal(toOther, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
      const preview = { ...stranger, selection: { case: 'eventId' as const, value: event.id } };
      await expectRefusal(fixture.deliveries.previewResend(preview), Code.NotFound, 'EVENT_NOT_FOUND');
      const ofOther = { ...stranger, selection: { case: 'requestId' as const, value: requestId } };
      expect(await fixture.deliveries.previewResend(ofOther)).toMatchObject({ deliveredCount: 1n });
      await expectRefusal(
        fixture.deliveries.previewResend({ ...ofOther, subscriptionId }),
        Code.NotFound,
        'WEBHOOK_SUBSCRIPTION_NOT_FOUND',
      );
    }
  });

  it('is refused for an invalid selection, and while ten others are running', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    const { id: disabled } = await fixture.subscribe(tenant);
    await fixture.disable(tenant, disabled);
    const now = Date.now();
    const period = (from: number, to: number, more = {}) =>
      fixture.resend(tenant, { case: 'period', value: fixture.period(from, to) }, more);
    await expectRefusal(period(now - 1, now), Code.InvalidArgument, 'RESEND_SELECTION');
    for (const to of [now, now - 1]) {
      await expectRefusal(period(now, to, { subscriptionId }), Code.InvalidArgument, 'RESEND_SELECTION');
    }
    const toDisabled = period(now - 1, now, { subscriptionId: disabled });
    await expectRefusal(toDisabled, Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_STATE');
    const selection = { case: 'period' as const, value: fixture.period(now - 1, now) };
    const preview = (more = {}) => fixture.deliveries.previewResend({ ...tenant, selection, ...more });
    await expectRefusal(preview(), Code.InvalidArgument, 'RESEND_SELECTION');
    await expectRefusal(
      preview({ subscriptionId: disabled }),
      Code.FailedPrecondition,
      'WEBHOOK_SUBSCRIPTION_STATE',
    );
    const deleted = { ...tenant, subscriptionId: disabled };
    await fixture.subscriptions.deleteWebhookSubscription(newWrite(deleted));
    const toDeleted = period(now - 1, now, { subscriptionId: disabled });
    await expectRefusal(toDeleted, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
    const previewOfDeleted = preview({ subscriptionId: disabled });
    await expectRefusal(previewOfDeleted, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
    await expectRefusal(fixture.goOn(randomUUID()), Code.NotFound, 'RESEND_NOT_FOUND');
    const asked = Array.from({ length: 13 }, () =>
      period(now - 1, now, { subscriptionId }).catch((error) => error),
    );
    const begun = (await Promise.all(asked)).filter((answer) => !(answer instanceof Error));
    expect(begun).toHaveLength(10);
    const another = period(now - 1, now, { subscriptionId });
    await expectRefusal(another, Code.FailedPrecondition, 'RESEND_LIMIT_REACHED');
    await fixture.goOn(begun[0]!.id);
    await period(now - 1, now, { subscriptionId });
  });
});
