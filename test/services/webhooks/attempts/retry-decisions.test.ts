import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { AttemptFailure, DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, startHarness, type TestTenant } from '../../../support/harness.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';
import { answered, inFlight, reportOf, startAttempts, startWebhooks } from './attempts-fixture.ts';

/** The responses to retry workflows, in services that make no attempts: the test reports them. */

const { RETRYING, HELD, SUCCEEDED, CANCELED } = DeliveryStatus;

const { fixture, attempts } = await startWebhooks();
let tenant: TestTenant;
beforeEach(() => {
  tenant = newTenant();
});

/** The attempt that is due of the merchant. */
const due = async () => {
  const all = await attempts.due(tenant.merchantId);
  expect(all).toHaveLength(1);
  return all[0]!;
};

/** The first attempt of a new delivery. */
async function firstAttempt() {
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  await attempts.answerAll(200, tenant.merchantId);
  await fixture.publish(tenant);
  return { ...(await due()), subscriptionId };
}

/** A delivery whose first attempt has failed; the next is due in five seconds. */
async function failDelivery() {
  const first = await firstAttempt();
  await attempts.record(answered(first, 503));
  return first;
}

const request = (deliveryId: string, now = false) => fixture.dispatch.requestAttempt({ deliveryId, now });
const awaitSecondAttempt = (deliveryId: string, waitMs: number) =>
  fixture.dispatch.awaitAttempt({ deliveryId, attemptNumber: 2, waitMs });
const deliveryOf = async (deliveryId: string) =>
  (await fixture.deliveries.getDelivery({ ...tenant, deliveryId })).delivery!;

describe('RequestAttempt of a delivery that is not due', () => {
  it('returns how its last attempt ended and when the next is due, and makes none', async () => {
    const { deliveryId } = await failDelivery();
    const { attemptNumber, state } = await request(deliveryId);
    expect(attemptNumber).toBeUndefined();
    expect(state).toMatchObject({ status: RETRYING, lastAttemptNumber: 1, httpStatus: 503 });
    expect(state!.failure).toBeUndefined();
    expect(Number(state!.delayMs)).toBeGreaterThan(1_000);
    expect(await attempts.due(tenant.merchantId)).toEqual([]);
  });

  it.each(['UNREACHABLE', 'PROXY', 'TIMEOUT'] as const)(
    'answers the failure %s of its last attempt',
    async (failure) => {
      const first = await firstAttempt();
      await attempts.record(reportOf(first, { endedAt: new Date(), latencyMs: 5, failure }));
      const { state } = await request(first.deliveryId);
      expect(state).toMatchObject({ lastAttemptNumber: 1, failure: AttemptFailure[failure] });
    },
  );

  it('returns that its last attempt is in flight, even if one is requested now, and keeps its schedule', async () => {
    const first = await firstAttempt();
    await attempts.record(inFlight(first));
    const before = await deliveryOf(first.deliveryId);
    for (const now of [false, true]) {
      const { attemptNumber, state } = await request(first.deliveryId, now);
      expect(attemptNumber).toBeUndefined();
      expect(state).toMatchObject({ lastAttemptNumber: 1 });
      expect([state!.httpStatus, state!.failure]).toEqual([undefined, undefined]);
      expect(Number(state!.delayMs)).toBeGreaterThan(15_000);
    }
    expect(await deliveryOf(first.deliveryId)).toEqual(before);
  });

  it('makes the attempt once if it is requested now, and repeats its answer until it is recorded', async () => {
    const { deliveryId } = await failDelivery();
    expect((await request(deliveryId, true)).attemptNumber).toBe(2);
    expect((await request(deliveryId)).attemptNumber).toBe(2);
    const second = await due();
    expect(second).toMatchObject({ deliveryId, number: 2 });
    await attempts.record(answered(second, 503));
    expect((await request(deliveryId)).attemptNumber).toBeUndefined();
    expect((await request(deliveryId, true)).attemptNumber).toBe(3);
  });
});

describe('AwaitAttempt', () => {
  it('returns that the attempt has not ended when the time is up', async () => {
    const { deliveryId } = await failDelivery();
    await request(deliveryId, true);
    const startedAt = performance.now();
    const { ended, state } = await awaitSecondAttempt(deliveryId, 300);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
    expect([ended, state!.status]).toEqual([false, RETRYING]);
  });

  it('returns the result as soon as it is recorded, even of an attempt recorded in flight', async () => {
    const { deliveryId } = await failDelivery();
    await request(deliveryId, true);
    const awaited = awaitSecondAttempt(deliveryId, 20_000);
    const second = await due();
    await attempts.record(inFlight(second));
    expect(await Promise.race([awaited, delay(300, 'waits')])).toBe('waits');
    await attempts.record({ ...answered(second, 200), owner: undefined });
    expect(await awaited).toMatchObject({ ended: true, state: { status: SUCCEEDED } });
  });

  it('ends when the attempt will not be made: the delivery is held, canceled or unknown', async () => {
    const { deliveryId, subscriptionId } = await failDelivery();
    await request(deliveryId, true);
    const write = () => ({ ...newWrite(tenant), subscriptionId });
    const paused = awaitSecondAttempt(deliveryId, 20_000);
    await fixture.subscriptions.pauseWebhookSubscription(write());
    expect(await paused).toMatchObject({ ended: true, state: { status: HELD } });
    await fixture.subscriptions.disableWebhookSubscription(write());
    expect(await awaitSecondAttempt(deliveryId, 20_000)).toMatchObject({
      ended: true,
      state: { status: CANCELED },
    });
    const unknown = randomUUID();
    expect(await awaitSecondAttempt(unknown, 20_000)).toMatchObject({
      ended: true,
      state: { status: CANCELED },
    });
    expect((await request(unknown, true)).attemptNumber).toBeUndefined();
  });

  it('ends when the services stop, so that they need not wait for an attempt of another process', async () => {
    const stopping = await startHarness({ SERVICES: 'webhooks' });
    const services = webhooksFixture(stopping, stopping.transports.grpc);
    const attemptsThere = await startAttempts(stopping);
    await services.subscribe(tenant);
    await attemptsThere.answerAll(200);
    await services.publish(tenant);
    const [first] = await attemptsThere.answerAll(503);
    const { deliveryId } = first!;
    await services.dispatch.requestAttempt({ deliveryId, now: true });
    const awaited = services.dispatch.awaitAttempt({ deliveryId, attemptNumber: 2, waitMs: 20_000 });
    await delay(200);
    const startedAt = performance.now();
    await stopping.close();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await awaited).toMatchObject({ ended: false, state: { status: RETRYING } });
    await attemptsThere.close();
  });
});

describe('the end of an attempt that was recorded as in flight', () => {
  const signalsTo = async (deliveryId: string) =>
    (await fixture.claimCommands()).filter(
      ({ kind, workflowId }) =>
        kind === WorkflowCommandKind.SIGNAL && workflowId === `delivery-${deliveryId}`,
    );
  const inFlightAttempt = async () => {
    const first = await firstAttempt();
    await attempts.record(inFlight(first));
    expect(await signalsTo(first.deliveryId)).toEqual([]);
    return first;
  };

  it('makes the retry workflow check again, once, if it failed', async () => {
    const first = await inFlightAttempt();
    const failed = { ...answered(first, 503), owner: undefined };
    expect(await attempts.record(failed)).toMatchObject([{ status: 'RETRYING' }]);
    await attempts.record(failed);
    expect(await signalsTo(first.deliveryId)).toMatchObject([
      {
        signalName: 'recheck',
        argumentsJson: '[]',
        merchantId: tenant.merchantId,
        requestId: expect.stringMatching(/./),
      },
    ]);
  });

  it('signals nothing if there is nothing more to do', async () => {
    const first = await inFlightAttempt();
    expect(await attempts.record({ ...answered(first, 200), owner: undefined })).toMatchObject([
      { status: 'SUCCEEDED' },
    ]);
    expect(await signalsTo(first.deliveryId)).toEqual([]);
  });

  it('signals nothing if the retry workflow checks in time', async () => {
    const first = await inFlightAttempt();
    await attempts.record({ ...answered(first, 503, { retryAfterMs: 60_000 }), owner: undefined });
    expect(await signalsTo(first.deliveryId)).toEqual([]);
  });
});
