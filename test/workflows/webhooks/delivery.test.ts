import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../../workflows/worker.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { recordHistories } from '../../support/recorded-histories.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace, testWorkflowBundle } from '../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { type MemoryDelivery, MemoryDispatch, PRIVATE_WORDS, SECRET } from './memory-dispatch.ts';

const HOUR_MS = 3_600_000;
const RECEIVERS_WORDS = 'words of the receiver';
const { SUCCEEDED, RETRYING, EXHAUSTED, CANCELED } = DeliveryStatus;

const logger = createLogger('fatal');
const dispatch = new MemoryDispatch();
let temporal: TestNamespace;
let receiver: Receiver;
let worker: PaymentsWorker;

beforeAll(async () => {
  temporal = await createTestNamespace();
  receiver = await startTellingReceiver();
  worker = await startWorker({
    ...{ config: testConfig({ ...loopbackSettings(), TEMPORAL_NAMESPACE: temporal.namespace }), logger },
    workflowBundle: testWorkflowBundle(),
    transport: dispatch.transport,
    temporalAddress: temporal.address,
  });
  // The first one waits until all of it is at work.
  await becomes(send('/ok'), SUCCEEDED, 30_000);
}, TEMPORAL_START_MS);

afterAll(async () => {
  const { RECORD_HISTORIES } = process.env;
  if (RECORD_HISTORIES) await recordHistories(temporal.client, RECORD_HISTORIES);
  await worker?.close();
  await receiver?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
});

/** Lets those answer that hang. */
const release = Promise.withResolvers<void>();

/**
 * The path says how it answers: /fail/3 fails three times per event, /slow/4000 answers after 4 s, /slow-fail/4000 fails
 * once after 4 s, /hang waits.
 */
function startTellingReceiver(): Promise<Receiver> {
  const seen = new Map<unknown, number>();
  return startReceiver(async (request, response) => {
    const [, behaviour, amount] = (request.url ?? '').split('/');
    const id = request.headers['webhook-id'];
    seen.set(id, (seen.get(id) ?? 0) + 1);
    if (behaviour === 'hang') await release.promise;
    const failsLate = behaviour === 'slow-fail' && seen.get(id) === 1;
    if (behaviour === 'slow' || failsLate) await delay(Number(amount));
    const fails = failsLate || (behaviour === 'fail' && seen.get(id)! <= Number(amount));
    response.writeHead(fails ? 500 : 200).end(RECEIVERS_WORDS);
  });
}

const send = (path: string, scheduleMs?: readonly number[]) =>
  dispatch.add(`https://localhost:${receiver.port}${path}`, scheduleMs);
const received = ({ id }: MemoryDelivery) =>
  receiver.requests.filter(({ headers }) => headers['webhook-id'] === id);
const becomes = (delivery: MemoryDelivery, status: DeliveryStatus, timeout = 10_000) =>
  vi.waitFor(() => expect(DeliveryStatus[delivery.status]).toBe(DeliveryStatus[status]), { timeout });
const batchOf = ({ batchId }: MemoryDelivery) => temporal.client.workflow.getHandle(`batch-${batchId}`);
const retryOf = ({ id }: MemoryDelivery) => temporal.client.workflow.getHandle(`delivery-${id}`);
const isClosedAs = (handle: ReturnType<typeof retryOf>, status: string, timeout = 10_000) =>
  vi.waitFor(async () => expect((await handle.describe()).status.name).toBe(status), { timeout });

/** What the Temporal UI shows of the activity that waits. */
const lastFailureOf = async (delivery: MemoryDelivery) =>
  (await retryOf(delivery).describe()).raw.pendingActivities?.[0]?.lastFailure?.message;
const says = (delivery: MemoryDelivery, message: RegExp) =>
  vi.waitFor(async () => expect(await lastFailureOf(delivery)).toMatch(message), { timeout: 40_000 });

/** All of a history, with its payloads decoded. */
function textOf(history: unknown): string {
  const json = JSON.stringify(history);
  const payloads = [...json.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => atob(data!));
  return [json, ...payloads].join('\n');
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('the batch workflow', () => {
  it('sends its deliveries side by side, each signed with its secret', async () => {
    const deliveries = Array.from({ length: 20 }, () => send('/slow/200'));
    await Promise.all(deliveries.map((delivery) => becomes(delivery, SUCCEEDED, 3_000)));
    for (const delivery of deliveries) {
      const [request, ...more] = received(delivery);
      expect(more).toEqual([]);
      const verified = new Webhook(SECRET).verify(request!.body, request!.headers as Record<string, string>);
      expect(verified).toMatchObject({ id: delivery.id });
    }
    expect(await batchOf(deliveries[1]!).result()).toMatchObject({ skipped: 0 });
  });

  it('ends while a slow receiver still thinks, and the one attempt is reported when it has ended', async () => {
    const delivery = send('/slow/4000');
    await vi.waitFor(() => expect(delivery.status).toBe(RETRYING), { timeout: 40_000 });
    expect(await batchOf(delivery).result()).toEqual({ succeeded: 0, retrying: 1, skipped: 0 });
    await becomes(delivery, SUCCEEDED);
    expect(delivery.reports).toMatchObject([{ attemptNumber: 1, httpStatus: 200, stillRunning: false }]);
    expect(delivery.reports[0]!.latencyMs).toBeGreaterThanOrEqual(4_000);
    expect(received(delivery)).toHaveLength(1);
  });

  it('repeats the report and not the sending while the services are away', async () => {
    dispatch.away.add('reportAttempts');
    const delivery = send('/ok');
    await vi.waitFor(() => expect(received(delivery)).toHaveLength(1), 40_000);
    const { reportAttempts } = dispatch.calls;
    await vi.waitFor(() => expect(dispatch.calls.reportAttempts).toBeGreaterThan(reportAttempts + 3), 40_000);
    dispatch.away.clear();
    await becomes(delivery, SUCCEEDED);
    expect(received(delivery)).toHaveLength(1);
  });

  it('starts the retry workflows that a run before it did not come to', async () => {
    dispatch.away.add('getAttempt');
    const delivery = send('/ok');
    await vi.waitFor(() => expect(delivery.batchId).not.toBe(''), 40_000);
    // As that run had reported it.
    delivery.status = RETRYING;
    dispatch.away.clear();
    await becomes(delivery, SUCCEEDED);
    expect(await batchOf(delivery).result()).toEqual({ succeeded: 0, retrying: 1, skipped: 0 });
    expect(await retryOf(delivery).result()).toBe('SUCCEEDED');
  });

  it('is not held up by many receivers of others that hang', async () => {
    const hanging: MemoryDelivery[] = [];
    for (let n = 0; n < 60; n += 1) {
      const delivery = send('/hang');
      hanging.push(delivery);
      await vi.waitFor(() => expect(delivery.batchId).not.toBe(''), { interval: 2, timeout: 40_000 });
    }
    const latencies: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const sentAt = performance.now();
      const quick = send('/ok');
      await vi.waitFor(() => expect(quick.status).toBe(SUCCEEDED), { interval: 5, timeout: 40_000 });
      latencies.push(performance.now() - sentAt);
    }
    expect(hanging.filter(({ reports }) => reports.length > 0)).toEqual([]);
    // Behind those that hang each would wait for 1.5 s, until they are handed over; one may meet a busy machine.
    expect(latencies.sort((a, b) => a - b)[5]).toBeLessThan(1_500);
    release.resolve();
  });
});

describe('the retry workflow', () => {
  it('makes the attempts of the schedule without growing its history by them', async () => {
    const [one, four] = [send('/fail/1', [0, 50]), send('/fail/4', [0, 50, 50, 50, 50])];
    await Promise.all([becomes(one, SUCCEEDED), becomes(four, SUCCEEDED, 20_000)]);
    expect([received(one).length, received(four).length]).toEqual([2, 5]);
    const lengths = [one, four].map(async (delivery) => {
      await isClosedAs(retryOf(delivery), 'COMPLETED');
      return (await retryOf(delivery).describe()).historyLength;
    });
    const [short, long] = await Promise.all(lengths);
    expect(long).toBe(short);
  });

  it('is found by what it is about, and says what came of the last attempt', async () => {
    const delivery = send('/fail/9', [0, 1, HOUR_MS]);
    await vi.waitFor(() => expect(delivery.reports).toHaveLength(2), { timeout: 40_000 });
    const { subscriptionId, id } = delivery;
    await vi.waitFor(async () => {
      const found = temporal.client.workflow.list({ query: `SubscriptionIds = '${subscriptionId}'` });
      const ids = (await collect(found)).map(({ workflowId }) => workflowId);
      expect(ids).toContain(`delivery-${id}`);
      const { raw, staticSummary } = await retryOf(delivery).describe();
      expect(await staticSummary()).toBe(`product.created.v1 to subscription ${subscriptionId}`);
      expect(raw.pendingActivities?.[0]?.lastFailure?.message).toMatch(
        /^attempt 2: HTTP 500; next attempt at 20/,
      );
    }, 40_000);
  });

  it('says what came of the attempt that was made before it began', async () => {
    const delivery = send('/fail/9', [0, HOUR_MS]);
    await becomes(delivery, RETRYING);
    await says(delivery, /^attempt 1: HTTP 500; next attempt at 20/);
  });

  it('follows the schedule of an attempt that was handed over, however late its deadline is', async () => {
    const delivery = send('/slow-fail/3000', [0, 100]);
    await becomes(delivery, RETRYING);
    await says(delivery, /^attempt 1: in progress; next attempt at 20/);
    // Far from the deadline of 15 s.
    await becomes(delivery, SUCCEEDED, 8_000);
    expect(delivery.reports).toMatchObject([{ httpStatus: 500 }, { httpStatus: 200 }]);
  });

  it('makes one attempt more with each signal to retry now', async () => {
    const delivery = send('/fail/2', [0, HOUR_MS, HOUR_MS]);
    await becomes(delivery, RETRYING);
    await says(delivery, /^attempt 1: HTTP 500/);
    await retryOf(delivery).signal('retryNow');
    await says(delivery, /^attempt 2: HTTP 500/);
    await delay(1_500);
    expect(received(delivery)).toHaveLength(2);
    await retryOf(delivery).signal('retryNow');
    await becomes(delivery, SUCCEEDED);
    expect(await retryOf(delivery).result()).toBe('SUCCEEDED');
  });

  it('retries now also when the services were away just then', async () => {
    const delivery = send('/fail/1', [0, HOUR_MS]);
    await becomes(delivery, RETRYING);
    await says(delivery, /^attempt 1: HTTP 500/);
    dispatch.away.add('getAttempt');
    const { getAttempt } = dispatch.calls;
    await retryOf(delivery).signal('retryNow');
    await vi.waitFor(() => expect(dispatch.calls.getAttempt).toBeGreaterThan(getAttempt + 2), 40_000);
    dispatch.away.clear();
    await becomes(delivery, SUCCEEDED);
  });

  it('asks again when it is told to, and makes no attempt that is not due', async () => {
    const delivery = send('/fail/1', [0, HOUR_MS]);
    await becomes(delivery, RETRYING);
    await says(delivery, /^attempt 1: HTTP 500/);
    const recheck = () =>
      dispatch.command({
        ...{ kind: WorkflowCommandKind.SIGNAL, workflowId: `delivery-${delivery.id}` },
        signalName: 'recheck',
      });
    const { getAttempt } = dispatch.calls;
    recheck();
    await vi.waitFor(() => expect(dispatch.calls.getAttempt).toBe(getAttempt + 1), 40_000);
    await says(delivery, /^attempt 1: HTTP 500/);
    delivery.dueAtMs = 0;
    recheck();
    await becomes(delivery, SUCCEEDED);
    expect(received(delivery)).toHaveLength(2);
  });

  it('ends as canceled, with the request that asked for it, when its delivery is canceled', async () => {
    const delivery = send('/fail/9', [0, HOUR_MS]);
    await becomes(delivery, RETRYING);
    await vi.waitFor(() => retryOf(delivery).describe(), 40_000);
    dispatch.cancel(delivery);
    await isClosedAs(retryOf(delivery), 'CANCELLED');
    expect(textOf(await retryOf(delivery).fetchHistory())).toContain('caused by request request-2');
    expect(received(delivery)).toHaveLength(1);
  });

  it('cancels its delivery when it is canceled in Temporal', async () => {
    const delivery = send('/fail/9', [0, HOUR_MS]);
    await becomes(delivery, RETRYING);
    await says(delivery, /^attempt 1: HTTP 500/);
    await retryOf(delivery).cancel();
    await isClosedAs(retryOf(delivery), 'CANCELLED');
    expect(DeliveryStatus[delivery.status]).toBe(DeliveryStatus[CANCELED]);
    expect(received(delivery)).toHaveLength(1);
  });

  it('ends as failed when the last attempt has failed', async () => {
    const delivery = send('/fail/9', [0, 1]);
    await becomes(delivery, EXHAUSTED);
    await isClosedAs(retryOf(delivery), 'FAILED');
    const failure = await retryOf(delivery)
      .result()
      .catch((error) => error.cause.cause.message);
    expect(failure).toBe('attempt 2: HTTP 500; this was the last attempt');
  });
});

describe('every history recorded here', () => {
  const histories = () => temporal.client.workflow.list().intoHistories();

  it('holds ids, states and times: no address, secret, payload or word of a receiver', async () => {
    const texts = (await collect(histories())).map(({ history }) => textOf(history));
    expect(texts.length).toBeGreaterThan(10);
    // Were payloads not decoded, nothing could be found in them.
    expect(texts.some((text) => text.includes('{"batchId":'))).toBe(true);
    for (const text of texts) {
      for (const secret of ['https:', 'localhost', SECRET, PRIVATE_WORDS, RECEIVERS_WORDS]) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
