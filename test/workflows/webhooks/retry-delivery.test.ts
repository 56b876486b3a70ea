import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite } from '../../support/harness.ts';
import { startHarnessWorker } from '../../support/harness-worker.ts';
import { historyText } from '../../support/recorded-histories.ts';
import { scrape } from '../../support/scrape.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { DeliverySystem, SOON, type Subscriber } from './delivery-system.ts';

/** The workflow of each failing delivery: real services, endpoints and Temporal. */

const { SUCCEEDED, RETRYING, HELD, EXHAUSTED, CANCELED } = DeliveryStatus;
/** Three attempts at once, then one an hour. */
const SCHEDULE = '0s,50ms,50ms,1h,1h';

let system: DeliverySystem;
beforeAll(async () => {
  system = await DeliverySystem.start({
    WEBHOOK_SCHEDULE_SANDBOX: SCHEDULE,
    WEBHOOK_RETRY_WORKFLOW_LIMIT: '2',
    TEMPORAL_UI_URL: 'https://temporal.example/ui',
  });
}, TEMPORAL_START_MS);
afterAll(() => system?.[Symbol.asyncDispose]());

/** A delivery that has failed three times, and whose workflow waits an hour. */
async function waiting() {
  const subscriber = await system.subscriber();
  subscriber.endpoint.answer(500);
  const { id: eventId, requestId } = await system.webhooks.publish(subscriber.tenant);
  const { id } = await system.becomes(subscriber, eventId, RETRYING);
  await system.shows(id, /^attempt 3: HTTP 500; next attempt at 20/);
  return { ...subscriber, id, eventId, requestId, workflow: system.retryOf(id) };
}

/** The result of a delivery to an endpoint that fails this many times. */
async function recovers(subscriber: Subscriber, failures: number) {
  let left = failures;
  subscriber.endpoint.answer((_request, response) => {
    response.writeHead(left > 0 ? 500 : 204).end();
    left -= 1;
  });
  const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
  const { id } = await system.becomes(subscriber, eventId, SUCCEEDED);
  await system.closesAs(id, 'COMPLETED');
  const { attempts } = await system.webhooks.deliveries.getDelivery({ ...subscriber.tenant, deliveryId: id });
  const { historyLength } = await system.retryOf(id).describe();
  return { attempts, historyLength };
}

describe('the workflow of a failing delivery', () => {
  it('makes the attempts of the schedule, and its history does not grow with them', async () => {
    const [one, two] = await Promise.all([system.subscriber(), system.subscriber()]);
    const [short, long] = await Promise.all([recovers(one, 1), recovers(two, 2)]);
    expect(long.attempts).toMatchObject([{ httpStatus: 500 }, { httpStatus: 500 }, { httpStatus: 204 }]);
    const [first, second] = long.attempts;
    // 50 ms, 20 % more or less.
    expect(timestampMs(second!.startedAt!) - timestampMs(first!.endedAt!)).toBeGreaterThanOrEqual(39);
    expect(short.attempts).toHaveLength(2);
    expect(long.historyLength).toBe(short.historyLength);
  });

  it('is found by merchant, subscription, request and type of event, and by a link of its delivery', async () => {
    const { id, eventId, requestId, workflow, ...subscriber } = await waiting();
    const { tenant, subscriptionId } = subscriber;
    const { workflowId, workflowUrl } = await system.deliveryOf(subscriber, eventId);
    expect(workflowId).toBe(`delivery-${id}`);
    expect(workflowUrl).toBe(`https://temporal.example/ui/namespaces/default/workflows/delivery-${id}`);
    const query = [
      `MerchantIds = '${tenant.merchantId}'`,
      `SubscriptionIds = '${subscriptionId}'`,
      `RequestIds = '${requestId}'`,
      `EventType = 'payment.succeeded.v1'`,
      `Environment = 'test'`,
    ].join(' and ');
    await vi.waitFor(async () => expect(await system.find(query)).toEqual([`delivery-${id}`]), SOON);
    const { staticSummary } = await workflow.describe();
    expect(await staticSummary()).toBe(`payment.succeeded.v1 to subscription ${subscriptionId}`);
  });

  it('makes the attempts for an event whose request id no header can carry', async () => {
    const subscriber = await system.subscriber();
    subscriber.endpoint.answer(500);
    const { id: eventId } = await system.webhooks.publish(subscriber.tenant, undefined, '注文\n42');
    const { id } = await system.becomes(subscriber, eventId, RETRYING);
    await system.shows(id, /^attempt 3: HTTP 500/);
  });

  it('makes one attempt with each signal to retry now', async () => {
    const { id, endpoint, workflow } = await waiting();
    await workflow.signal('retryNow');
    await system.shows(id, /^attempt 4: HTTP 500; next attempt at 20/);
    expect(endpoint.eventIds).toHaveLength(4);
    endpoint.answer(200);
    await workflow.signal('retryNow');
    expect(await workflow.result()).toBe('SUCCEEDED');
    expect(endpoint.eventIds).toHaveLength(5);
    await vi.waitFor(async () => expect(await system.startsOf(`delivery-${id}`)).toEqual([]), SOON);
  });

  it('retries now even if the services were unavailable at that moment', async () => {
    const { endpoint, workflow } = await waiting();
    endpoint.answer(200);
    const calls = system.callsOf('RequestAttempt');
    system.unavailable.add('RequestAttempt');
    await workflow.signal('retryNow');
    await vi.waitFor(() => expect(system.callsOf('RequestAttempt')).toBeGreaterThan(calls + 1), SOON);
    system.unavailable.clear();
    expect(await workflow.result()).toBe('SUCCEEDED');
  });

  it('follows the schedule of an attempt that takes long once that has ended', async () => {
    const subscriber = await system.subscriber();
    const seen = Promise.withResolvers<void>();
    subscriber.endpoint.answer(async (_request, response) => {
      subscriber.endpoint.answer(200);
      await seen.promise;
      response.writeHead(500).end();
    });
    const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
    const { id } = await system.becomes(subscriber, eventId, RETRYING);
    await system.shows(id, /^attempt 1: in progress; next attempt at 20/);
    seen.resolve();
    await system.becomes(subscriber, eventId, SUCCEEDED);
    const { attempts } = await system.webhooks.deliveries.getDelivery({
      ...subscriber.tenant,
      deliveryId: id,
    });
    expect(attempts).toMatchObject([{ httpStatus: 500 }, { httpStatus: 200 }]);
    const [first, second] = attempts;
    // The attempt would count as lost 20 s after it began.
    expect(timestampMs(second!.startedAt!) - timestampMs(first!.startedAt!)).toBeLessThan(15_000);
  });

  it('says at once that another worker has to await the attempt when its worker stops', async () => {
    const subscriber = await system.subscriber();
    const [retried, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    subscriber.endpoint.answer((_request, response) => {
      subscriber.endpoint.answer(async (_retry, slow) => {
        retried.resolve();
        await end.promise;
        slow.writeHead(204).end();
      });
      response.writeHead(500).end();
    });
    const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
    await retried.promise;
    const { id } = await system.deliveryOf(subscriber, eventId);
    await system.worker!.close();
    end.resolve();
    await system.shows(id, /^the worker stopped; another one awaits the attempt$/);
    system.worker = await startHarnessWorker(system.webhooks.harness, system.temporal, {
      transport: system.transport,
    });
    await system.closesAs(id, 'COMPLETED');
  });

  it('fails when the last attempt has failed, is not started again, and raises no alert', async () => {
    const workflowFailures = async () => (await scrape())('payments_workflow_failures_total')!;
    const failuresBefore = await workflowFailures();
    const { id, workflow, ...subscriber } = await waiting();
    await workflow.signal('retryNow');
    await system.shows(id, /^attempt 4: HTTP 500/);
    await workflow.signal('retryNow');
    await system.becomes(subscriber, subscriber.eventId, EXHAUSTED);
    const failure = await workflow.result().catch((error) => error.cause.cause);
    expect(failure).toMatchObject({
      type: 'DELIVERY_EXHAUSTED',
      message: 'attempt 5: HTTP 500; this was the last attempt',
    });
    expect(await system.startsOf(`delivery-${id}`)).toEqual([]);
    expect(await workflowFailures()).toBe(failuresBefore);
  });

  it('is started again when it was terminated', async () => {
    const { id, workflow, endpoint } = await waiting();
    const { runId } = await workflow.describe();
    await workflow.terminate();
    await system.startAgain(`delivery-${id}`);
    await vi.waitFor(async () => expect((await workflow.describe()).runId).not.toBe(runId), SOON);
    await system.shows(id, /^attempt 3: HTTP 500; next attempt at 20/);
    expect(endpoint.eventIds).toHaveLength(3);
  });

  it('completes when its subscription is paused, and is started again when the delivery fails after that', async () => {
    const { id, workflow, tenant, subscriptionId, eventId, ...subscriber } = await waiting();
    const { subscriptions } = system.webhooks;
    await subscriptions.pauseWebhookSubscription({ ...newWrite(tenant), subscriptionId });
    expect(await workflow.result()).toBe('HELD');
    await vi.waitFor(async () => expect(await system.startsOf(`delivery-${id}`)).toEqual([]), SOON);
    const { runId } = await workflow.describe();
    await subscriptions.resumeWebhookSubscription({ ...newWrite(tenant), subscriptionId });
    await system.webhooks.deliveries.retryDelivery({ ...newWrite(tenant), deliveryId: id });
    await system.shows(id, /^attempt 4: HTTP 500/);
    expect((await workflow.describe()).runId).not.toBe(runId);
    expect(subscriber.endpoint.eventIds).toHaveLength(4);
  });

  it('ends as canceled when its delivery is canceled, and names the request', async () => {
    const { id, workflow, tenant, endpoint } = await waiting();
    await system.webhooks.deliveries.cancelDelivery({ ...newWrite(tenant), deliveryId: id });
    await system.closesAs(id, 'CANCELLED');
    const { events } = await workflow.fetchHistory();
    const causes = events!.map((event) => event.workflowExecutionCancelRequestedEventAttributes?.cause);
    expect(causes.filter(Boolean)).toEqual([expect.stringMatching(/^caused by request /)]);
    expect(endpoint.eventIds).toHaveLength(3);
    expect(await system.startsOf(`delivery-${id}`)).toEqual([]);
  });

  it('cancels its delivery when it is canceled in Temporal', async () => {
    const { id, workflow, eventId, ...subscriber } = await waiting();
    await workflow.cancel();
    await system.closesAs(id, 'CANCELLED');
    expect((await system.deliveryOf(subscriber, eventId)).status).toBe(CANCELED);
    expect(subscriber.endpoint.eventIds).toHaveLength(3);
  });

  it('is not started for a delivery that is held', async () => {
    const subscriber = await system.subscriber();
    subscriber.endpoint.answer(500);
    for (let count = 0; count < 3; count += 1) await system.webhooks.publish(subscriber.tenant);
    const held = await vi.waitFor(async () => {
      const { deliveries } = await system.webhooks.deliveries.listDeliveries({
        ...subscriber.tenant,
        status: HELD,
      });
      expect(deliveries).toHaveLength(1);
      return deliveries[0]!;
    }, SOON);
    expect(await system.startsOf(`delivery-${held.id}`)).toEqual([]);
    await expect(system.retryOf(held.id).describe()).rejects.toThrow('not found');
  });
});

it('keeps addresses, secrets, payloads and the text of responses out of every history', async () => {
  const words = 'words of the receiver';
  const subscriber = await system.subscriber();
  const { signingSecret } = await system.webhooks.subscriptions.revealSigningSecret({
    ...newWrite(subscriber.tenant),
    subscriptionId: subscriber.subscriptionId,
  });
  subscriber.endpoint.answer((_request, response) => response.writeHead(500).end(words) && undefined);
  const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
  const { id } = await system.becomes(subscriber, eventId, RETRYING);
  await system.shows(id, /^attempt 3/);
  await system.retryOf(id).cancel();
  await system.closesAs(id, 'CANCELLED');
  const histories = system.temporal.client.workflow.list().intoHistories();
  const texts = await Array.fromAsync(histories, ({ history }) => historyText(history));
  expect(texts.length).toBeGreaterThan(10);
  // If payloads were not decoded, nothing could be found in them.
  expect(texts.some((text) => text.includes(`"deliveryId":"${id}"`))).toBe(true);
  const { amount } = JSON.parse(String(subscriber.endpoint.requests.at(-1)!.body)).data;
  const secrets = ['https:', 'localhost', signingSecret, 'whsec_', `"amount"`, String(amount), words];
  for (const text of texts) for (const secret of secrets) expect(text).not.toContain(secret);
});
