import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type Attempt,
  AttemptFailure,
  DeliveryStatus,
  SubscriptionErrorCause,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { AttemptRecorder } from '../../../../services/webhooks/attempts/attempt-recorder.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { PAYMENT } from '../webhooks-fixture.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

const { ACTIVE, ERROR, DISABLED } = WebhookSubscriptionState;
const { RETRYING, SUCCEEDED, EXHAUSTED, CANCELED } = DeliveryStatus;

let tenant: TestTenant;
const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());

const write = (subscriptionId: string) => ({ ...newWrite(tenant), subscriptionId });

/** The delivery of the last event. */
async function lastDelivery() {
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 1 });
  return webhooks.deliveries.getDelivery({ ...tenant, deliveryId: deliveries[0]!.id });
}

const waitForLastDelivery = (status: DeliveryStatus) =>
  eventually(async () => {
    const found = await lastDelivery();
    expect(found.delivery!.status).toBe(status);
    return { ...found, delivery: found.delivery! };
  });

const headersOf = ({ request }: Attempt) =>
  Object.fromEntries(request!.headers.map(({ name, value }) => [name, value]));

describe('a delivery', () => {
  it('sends every subscription and attempt the same signed body', async () => {
    tenant = newTenant(Environment.TEST);
    const [one, other] = [await webhooks.subscribed(tenant), await webhooks.subscribed(tenant)];
    one.endpoint.answer(500);
    const objectId = randomUUID();
    await webhooks.publish(tenant, objectId);
    const event = await webhooks.publish(tenant, objectId, 'req "1"');
    const sentTo = ({ endpoint }: typeof one) =>
      endpoint.requests.filter(({ headers }) => headers['webhook-id'] === event.id);
    await eventually(() => expect([sentTo(one).length, sentTo(other).length]).toEqual([1, 1]));
    const [failed] = (
      await webhooks.deliveries.listDeliveries({ ...tenant, eventId: event.id, subscriptionId: one.id })
    ).deliveries;
    await eventually(async () =>
      expect(
        (await webhooks.deliveries.getDelivery({ ...tenant, deliveryId: failed!.id })).delivery!.status,
      ).toBe(RETRYING),
    );
    await webhooks.attemptAgain(tenant, failed!.id);
    const requests = [...sentTo(one), ...sentTo(other)];
    expect(requests).toHaveLength(3);
    const head = {
      id: event.id,
      type: 'payment.succeeded.v1',
      timestamp: timestampDate(event.timestamp!).toISOString(),
      environment: 'test',
      requestId: 'req "1"',
      sequence: 2,
    };
    const { data } = JSON.parse(requests[0]!.body.toString());
    expect(data).toEqual(PAYMENT);
    for (const { method, body } of requests) {
      expect(method).toBe('POST');
      expect(body.toString()).toBe(JSON.stringify({ ...head, data }));
    }
    const { signingSecret } = await webhooks.subscriptions.revealSigningSecret(write(one.id));
    const verify = ({ body, headers }: (typeof requests)[number]) =>
      new Webhook(signingSecret).verify(body, headers as Record<string, string>);
    for (const request of sentTo(one)) verify(request);
    expect(() => verify(sentTo(other)[0]!)).toThrow();
    const shown = () => webhooks.deliveries.getDelivery({ ...tenant, deliveryId: failed!.id });
    await webhooks.subscriptions.rotateSigningSecret({ ...write(one.id), overlapSeconds: 0 });
    const { attempts, requestBody } = await shown();
    expect(requestBody).toBe(sentTo(one)[0]!.body.toString());
    expect(attempts.map(({ request }) => request!.url)).toEqual([one.endpoint.url, one.endpoint.url]);
    expect(attempts.map(headersOf)).toEqual(sentTo(one).map(({ headers }) => headers));
    for (const { timing, latencyMs, responseHeaders } of attempts) {
      expect(timing!.firstByteMs).toBeLessThanOrEqual(latencyMs!);
      expect(responseHeaders.map(({ name }) => name)).toContain('date');
    }
    await webhooks.sql(
      `update webhooks.subscription set url = url || '/new', generation = generation + 1 where id = $1`,
      [one.id],
    );
    expect((await shown()).attempts.map(({ request }) => request!.url)).toEqual(['', '']);
  });

  it('is not sent with a secret of another subscription, and does not delay other deliveries', async () => {
    tenant = newTenant(Environment.TEST);
    const [swapped, sound] = [await webhooks.subscribed(tenant), await webhooks.subscribed(tenant)];
    await webhooks.sql(
      `update webhooks.signing_secret set sealed =
         (select sealed from webhooks.signing_secret where subscription_id = $2)
        where subscription_id = $1`,
      [swapped.id, sound.id],
    );
    // Makes owners read the change.
    await webhooks.sql('update webhooks.subscription set url = url where id = $1', [swapped.id]);
    // A second one, sent once the changed secret is known.
    await eventually(async () => {
      const before = swapped.endpoint.eventIds.length;
      const { id } = await webhooks.publish(tenant);
      await eventually(() => expect(sound.endpoint.eventIds).toContain(id));
      expect(swapped.endpoint.eventIds).toHaveLength(before);
    });
  });

  it('is retried on schedule with jitter, or after Retry-After if that is later', async () => {
    tenant = newTenant(Environment.TEST);
    const { endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await webhooks.publish(tenant);
    const { delivery } = await waitForLastDelivery(RETRYING);
    const waitMs = timestampDate(delivery.nextAttemptAt!).getTime() - Date.now();
    expect(waitMs).toBeGreaterThan(2_000);
    expect(waitMs).toBeLessThan(6_100);
    endpoint.answer((_request, response) => {
      response.writeHead(503, { 'retry-after': '7200' }).end();
    });
    const again = await webhooks.attemptAgain(tenant, delivery.id);
    const askedMs = timestampDate(again.delivery!.nextAttemptAt!).getTime() - Date.now();
    expect(askedMs).toBeGreaterThan(7_150_000);
    expect(askedMs).toBeLessThan(7_201_000);
    const refused = await webhooks.dispatch.requestAttempt({ deliveryId: delivery.id });
    expect(refused.attemptNumber).toBeUndefined();
    expect(refused.state).toMatchObject({ lastAttemptNumber: 2, httpStatus: 503 });
    expect(Number(refused.state!.delayMs)).toBeGreaterThan(7_100_000);
  });

  it('is made again if that is requested before the process knows that its result is recorded', async () => {
    tenant = newTenant(Environment.TEST);
    const { endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    const { record } = AttemptRecorder.prototype;
    const late = vi.spyOn(AttemptRecorder.prototype, 'record').mockImplementation(async function (
      this: AttemptRecorder,
      reports,
    ) {
      const recording = await record.call(this, reports);
      await delay(1_000);
      return recording;
    });
    onTestFinished(() => late.mockRestore());
    await webhooks.publish(tenant);
    const { delivery } = await waitForLastDelivery(RETRYING);
    expect((await webhooks.attemptAgain(tenant, delivery.id)).delivery!.attemptCount).toBe(2);
  });

  it('that is exhausted puts its subscription in ERROR; the next 2xx makes it ACTIVE', async () => {
    tenant = newTenant(Environment.TEST);
    const { id, endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await webhooks.publish(tenant);
    const { id: deliveryId } = (await waitForLastDelivery(RETRYING)).delivery;
    endpoint.answer((_request, response) => void response.socket!.destroy());
    for (const status of [RETRYING, RETRYING, EXHAUSTED]) {
      expect((await webhooks.attemptAgain(tenant, deliveryId)).delivery!.status).toBe(status);
    }
    const { delivery, attempts } = await lastDelivery();
    expect(delivery).toMatchObject({ attemptCount: 4, endedAt: expect.anything() });
    const failure = AttemptFailure.CONNECTION_RESET;
    expect(attempts.map(({ number, httpStatus, failure }) => [number, httpStatus ?? failure])).toEqual([
      [1, 500],
      [2, failure],
      [3, failure],
      [4, failure],
    ]);
    const failed = await webhooks.subscriptionOf(tenant, id);
    expect(failed.state).toBe(ERROR);
    expect(failed.error).toMatchObject({
      cause: SubscriptionErrorCause.DELIVERY_EXHAUSTED,
      attempts: 4,
      failure,
      deliveryId,
      eventId: delivery!.eventId,
      since: expect.anything(),
    });
    endpoint.answer(204);
    await webhooks.publish(tenant);
    await waitForLastDelivery(SUCCEEDED);
    const healthy = await webhooks.subscriptionOf(tenant, id);
    expect(healthy).toMatchObject({ state: ACTIVE, error: undefined });
  });
});

describe('an answer of 410', () => {
  it('disables the subscription: nothing stays open, and the reason is kept', async () => {
    tenant = newTenant(Environment.TEST);
    const { id, endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await webhooks.publish(tenant);
    const retrying = (await waitForLastDelivery(RETRYING)).delivery;
    endpoint.answer(410);
    await webhooks.publish(tenant);
    const { delivery } = await waitForLastDelivery(CANCELED);
    await eventually(async () =>
      expect((await lastDelivery()).attempts).toMatchObject([{ httpStatus: 410 }]),
    );
    const disabled = await webhooks.subscriptionOf(tenant, id);
    expect(disabled).toMatchObject({ state: DISABLED, disabledAt: expect.anything() });
    expect(disabled.error).toMatchObject({
      cause: SubscriptionErrorCause.GONE,
      httpStatus: 410,
      since: disabled.disabledAt,
      deliveryId: delivery.id,
    });
    expect(await webhooks.statuses(tenant)).toEqual(['CANCELED', 'CANCELED']);
    const workflows = (await webhooks.claimCommands())
      .filter(({ merchantId }) => merchantId === tenant.merchantId)
      .map(({ workflowId }) => workflowId);
    expect(workflows).toEqual(
      expect.arrayContaining([`notice-WEBHOOK_GONE-${id}`, `delivery-${retrying.id}`]),
    );
  });
});

describe('a disabled subscription', () => {
  it('is sent nothing more, and late outcomes of attempts in flight do not change it', async () => {
    tenant = newTenant(Environment.TEST);
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const held = endpoint.hold();
    await webhooks.publish(tenant);
    await eventually(() => expect(held.count).toBe(1));
    await webhooks.subscriptions.disableWebhookSubscription(write(id));
    await webhooks.publish(tenant);
    held.release(200);
    await eventually(async () =>
      expect((await lastDelivery()).attempts).toMatchObject([{ number: 1, httpStatus: 200 }]),
    );
    expect((await lastDelivery()).delivery).toMatchObject({ status: CANCELED });
    expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(DISABLED);
    expect(endpoint.eventIds).toHaveLength(1);
  });
});

describe('an attempt that takes long', () => {
  it('is recorded as in flight and left to a retry workflow, is not repeated, and its outcome counts', async () => {
    tenant = newTenant(Environment.TEST);
    const { endpoint } = await webhooks.subscribed(tenant);
    const held = endpoint.hold();
    await webhooks.publish(tenant);
    const { delivery, attempts } = await waitForLastDelivery(RETRYING);
    expect(attempts).toMatchObject([{ number: 1, endedAt: undefined }]);
    const { startedAt } = attempts[0]!;
    const lostAt = timestampDate(startedAt!).getTime() + 15_000 + 5_000;
    expect(timestampDate(delivery.nextAttemptAt!).getTime()).toBe(lostAt);
    const workflows = (await webhooks.claimCommands()).map(({ workflowId }) => workflowId);
    expect(workflows).toContain(`delivery-${delivery.id}`);
    const refused = await webhooks.dispatch.requestAttempt({ deliveryId: delivery.id, now: true });
    expect(refused.attemptNumber).toBeUndefined();
    expect(refused.state).toMatchObject({ lastAttemptNumber: 1 });
    expect([refused.state!.httpStatus, refused.state!.failure]).toEqual([undefined, undefined]);
    held.release(200);
    const ended = await waitForLastDelivery(SUCCEEDED);
    expect(ended.attempts).toMatchObject([{ number: 1, startedAt, httpStatus: 200 }]);
    expect(endpoint.eventIds).toHaveLength(1);
  });
});
