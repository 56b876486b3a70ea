import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../../workflows/worker.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../../support/temporal.ts';
import { testWorkflowBundle } from '../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { type MemoryDelivery, MemoryDispatch } from './memory-dispatch.ts';

const { START, SIGNAL, CANCEL, UNSPECIFIED } = WorkflowCommandKind;
const { SUCCEEDED } = DeliveryStatus;

let temporal: TestTemporal;
let receiver: Receiver;
let worker: PaymentsWorker | undefined;

beforeAll(async () => {
  temporal = await startTemporal();
  receiver = await startReceiver();
}, TEMPORAL_START_MS);

afterEach(() => worker?.close());

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
});

/** A worker on a namespace of its own, so that it does no other test's work. */
async function startWith(dispatch: MemoryDispatch, settings: Record<string, string> = {}) {
  const namespace = `test-${randomUUID()}`;
  const config = testConfig({ ...loopbackSettings(), TEMPORAL_NAMESPACE: namespace, ...settings });
  worker = await startWorker({
    ...{ config, logger: createLogger('fatal'), transport: dispatch.transport },
    workflowBundle: testWorkflowBundle(),
    temporalAddress: temporal.address,
  });
  return new Client({ connection: temporal.client.connection, namespace });
}

const send = (dispatch: MemoryDispatch) => dispatch.add(`https://localhost:${receiver.port}/`);
const isDelivered = (delivery: MemoryDelivery, timeout = 10_000) =>
  vi.waitFor(() => expect(delivery.status).toBe(SUCCEEDED), { timeout });

describe('the dispatcher', () => {
  it('makes a namespace fit and delivers in it', async () => {
    const dispatch = new MemoryDispatch();
    const delivery = send(dispatch);
    const client = await startWith(dispatch);
    await isDelivered(delivery, 20_000);
    const query = "Environment = 'test'";
    await vi.waitFor(async () => expect((await client.workflow.count(query)).count).toBe(1), 40_000);
  });

  it('starts batches no closer to each other than the interval, so that they grow', async () => {
    const dispatch = new MemoryDispatch();
    await startWith(dispatch, { WEBHOOK_BATCH_INTERVAL: '300ms' });
    await isDelivered(send(dispatch), 20_000);
    const deliveries: MemoryDelivery[] = [];
    const startedAt = performance.now();
    for (let n = 0; n < 60; n += 1) {
      deliveries.push(send(dispatch));
      await delay(10);
    }
    const intervals = (performance.now() - startedAt) / 300;
    await Promise.all(deliveries.map((delivery) => isDelivered(delivery)));
    // Besides: the first, the last, and the one under way.
    expect(new Set(deliveries.map(({ batchId }) => batchId)).size).toBeLessThan(intervals + 3);
  });

  it.each([
    [40, ['Environment', 'MerchantIds', 'RequestIds', 'SubscriptionIds']],
    [41, ['Environment']],
  ])('has a batch of %i deliveries found by %j', async (size, found) => {
    const dispatch = new MemoryDispatch();
    const deliveries = Array.from({ length: size }, () => send(dispatch));
    const client = await startWith(dispatch);
    await isDelivered(deliveries[0]!, 20_000);
    const batch = client.workflow.getHandle(`batch-${deliveries[0]!.batchId}`);
    const attributes = await vi.waitFor(
      async () => (await batch.describe()).typedSearchAttributes.getAll(),
      10_000,
    );
    const names = attributes.map(({ key }) => key.name).filter((name) => !name.startsWith('Build'));
    expect(names.sort()).toEqual(found);
    expect(new Set(deliveries.map(({ batchId }) => batchId)).size).toBe(1);
  });

  it('carries commands out in order and confirms what is done, also to workflows that are not there', async () => {
    const dispatch = new MemoryDispatch();
    const delivery = send(dispatch);
    const client = await startWith(dispatch);
    await isDelivered(delivery, 20_000);
    const workflowId = 'delivery-started-by-command';
    const retry = {
      ...{ deliveryId: delivery.id, merchantId: randomUUID(), environment: 'test' },
      ...{ subscriptionId: randomUUID(), requestId: 'r', eventType: 'payment.succeeded.v1' },
    };
    const ids = [
      dispatch.command({ kind: START, workflowId, workflowType: 'retryDelivery', arguments: [retry] }),
      dispatch.command({ kind: SIGNAL, workflowId, signalName: 'retryNow' }),
      dispatch.command({ kind: SIGNAL, workflowId: 'nobody', signalName: 'retryNow' }),
      dispatch.command({ kind: CANCEL, workflowId: 'nobody' }),
    ];
    const refused = dispatch.command({ kind: UNSPECIFIED, workflowId: 'anybody' });
    await vi.waitFor(() => expect(dispatch.confirmed.sort()).toEqual(ids.sort()), { timeout: 40_000 });
    expect(dispatch.confirmed).not.toContain(refused);
    const workflow = client.workflow.getHandle(workflowId);
    expect(await workflow.result()).toBe('SUCCEEDED');
    const attributes = (await workflow.describe()).typedSearchAttributes.getAll();
    expect(attributes.map(({ value }) => value)).toEqual(
      expect.arrayContaining([[retry.subscriptionId], retry.eventType]),
    );
  });

  it('says which request asked for a workflow, and finds it by that', async () => {
    const dispatch = new MemoryDispatch();
    const client = await startWith(dispatch);
    const workflowId = `resend-${randomUUID()}`;
    const input = { resendId: randomUUID(), merchantId: randomUUID(), environment: 'test' };
    dispatch.command({ kind: START, workflowId, workflowType: 'resendDeliveries', arguments: [input] });
    await vi.waitFor(
      async () => {
        const described = await client.workflow.getHandle(workflowId).describe();
        expect(await described.staticSummary()).toBe('caused by request request-2');
        expect((await client.workflow.count(`RequestIds = 'request-2'`)).count).toBe(1);
      },
      { timeout: 40_000 },
    );
  });

  it('goes on when the services come back', async () => {
    const dispatch = new MemoryDispatch();
    dispatch.away.add('claimBatch');
    const delivery = send(dispatch);
    await startWith(dispatch);
    await vi.waitFor(() => expect(dispatch.calls.claimBatch).toBeGreaterThan(2), { timeout: 40_000 });
    dispatch.away.clear();
    await isDelivered(delivery);
  });

  it('asks for work only while Temporal answers', async () => {
    await temporal.kill();
    const dispatch = new MemoryDispatch();
    const delivery = send(dispatch);
    await startWith(dispatch);
    await delay(1_500);
    expect(dispatch.calls.claimBatch).toBe(0);
    expect(await worker!.health()).toEqual({ temporal: false });
    await temporal.start();
    await isDelivered(delivery, 30_000);
    expect(await worker!.health()).toEqual({ temporal: true });
  });

  it('asks for no more once Temporal has died, and goes on when it is back', async () => {
    const dispatch = new MemoryDispatch();
    await startWith(dispatch);
    await isDelivered(send(dispatch), 20_000);
    await vi.waitFor(() => expect(dispatch.calls.claimBatch).toBeGreaterThan(1), 40_000);
    await temporal.kill();
    const { claimBatch } = dispatch.calls;
    dispatch.endWait();
    await delay(1_500);
    expect(dispatch.calls.claimBatch).toBe(claimBatch);
    expect(await worker!.health()).toEqual({ temporal: false });
    await temporal.start();
    await isDelivered(send(dispatch), 30_000);
  });

  it('keeps what it claimed while Temporal dies and comes back', async () => {
    const dispatch = new MemoryDispatch();
    await startWith(dispatch);
    await isDelivered(send(dispatch), 20_000);
    await temporal.kill();
    const delivery = send(dispatch);
    await delay(2_000);
    expect(await worker!.health()).toEqual({ temporal: false });
    await temporal.start();
    await isDelivered(delivery, 30_000);
  });
});
