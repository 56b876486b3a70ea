import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { startWorker } from '../../../workflows/worker.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../../support/temporal.ts';
import { testWorkflowBundle } from '../../support/temporal-namespace.ts';
import { startReceiver } from '../../support/tls-receiver.ts';
import { type MemoryDelivery, MemoryDispatch } from './memory-dispatch.ts';

const { PENDING, RETRYING, SUCCEEDED } = DeliveryStatus;

/** The server that tests pause and kill. */
let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await startTemporal();
}, TEMPORAL_START_MS);
afterAll(() => temporal?.[Symbol.asyncDispose]());

let end: AsyncDisposableStack;
beforeEach(() => {
  end = new AsyncDisposableStack();
});
afterEach(() => end.disposeAsync(), 60_000);

interface DeliveringOptions {
  readonly settings?: Record<string, string>;
  /** Default: the server of this file. */
  readonly server?: TestTemporal;
}

/** A worker that has delivered, and a receiver that answers after the milliseconds and with the status of the path. */
async function startDelivering({ settings = {}, server = temporal }: DeliveringOptions = {}) {
  const receiver = end.use(
    await startReceiver(async ({ url }, response) => {
      const [, status, afterMs] = (url ?? '').split('/');
      await delay(Number(afterMs));
      response.writeHead(Number(status)).end();
    }),
  );
  const dispatch = new MemoryDispatch();
  const namespace = `test-${randomUUID()}`;
  const startAnother = async () => {
    const worker = await startWorker({
      config: testConfig({ ...loopbackSettings(), TEMPORAL_NAMESPACE: namespace, ...settings }),
      logger: createLogger('silent'),
      transport: dispatch.transport,
      temporalAddress: server.address,
      workflowBundle: testWorkflowBundle(),
    });
    end.defer(() => worker.close());
    return worker;
  };
  const worker = await startAnother();
  const client = new Client({ connection: server.client.connection, namespace });
  const fixture = {
    pauseTemporal: () => process.kill(server.pid!, 'SIGSTOP'),
    resumeTemporal: () => process.kill(server.pid!, 'SIGCONT'),
    ...{ dispatch, worker, startAnother },
    send: (path: string) => dispatch.add(`https://localhost:${receiver.port}${path}`, [0, 60_000]),
    becomes: (delivery: MemoryDelivery, status: DeliveryStatus, timeout = 10_000) =>
      vi.waitFor(() => expect(DeliveryStatus[delivery.status]).toBe(DeliveryStatus[status]), { timeout }),
    received: ({ id }: MemoryDelivery) =>
      receiver.requests.filter(({ headers }) => headers['webhook-id'] === id).length,
    /** Its workflow starts behind its attempts. */
    resultOf: ({ batchId }: MemoryDelivery) =>
      vi.waitFor(() => client.workflow.getHandle(`batch-${batchId}`).result(), { timeout: 40_000 }),
    retryOf: ({ id }: MemoryDelivery) => client.workflow.getHandle(`delivery-${id}`),
  };
  const first = fixture.send('/204/0');
  await fixture.becomes(first, SUCCEEDED, 60_000);
  await fixture.resultOf(first);
  return fixture;
}

/** A server that returns no first workflow task with a start. */
async function startWithoutFirstTasks(): Promise<TestTemporal> {
  const setting = ['--dynamic-config-value', 'system.enableEagerWorkflowStart=false'];
  return end.use(await startTemporal({ serverArguments: setting }));
}

describe('first attempts', () => {
  it('do not wait for Temporal; the workflow of their batch joins them', async () => {
    const { pauseTemporal, resumeTemporal, dispatch, send, becomes, received, resultOf } =
      await startDelivering();
    pauseTemporal();
    const delivery = send('/204/0');
    await becomes(delivery, SUCCEEDED);
    const { getAttempt } = dispatch.calls;
    resumeTemporal();
    expect(await resultOf(delivery)).toEqual({ succeeded: 1, retrying: 0, skipped: 0 });
    expect(dispatch.calls.getAttempt).toBe(getAttempt);
    expect(received(delivery)).toBe(1);
  });

  it('that fail go on in retry workflows that their batch starts', async () => {
    const { pauseTemporal, resumeTemporal, send, becomes, received, resultOf, retryOf } =
      await startDelivering();
    pauseTemporal();
    const delivery = send('/500/0');
    await becomes(delivery, RETRYING);
    resumeTemporal();
    expect(await resultOf(delivery)).toEqual({ succeeded: 0, retrying: 1, skipped: 0 });
    expect((await retryOf(delivery).describe()).status.name).toBe('RUNNING');
    expect(received(delivery)).toBe(1);
  });

  it('are no more than ten starts ahead of Temporal', async () => {
    const { pauseTemporal, resumeTemporal, send, becomes, received, resultOf } = await startDelivering();
    pauseTemporal();
    const ahead: MemoryDelivery[] = [];
    for (let starts = 0; starts < 10; starts += 1) {
      const delivery = send('/204/0');
      await becomes(delivery, SUCCEEDED);
      // Until its batch is filled.
      await delay(150);
      ahead.push(delivery);
    }
    const behind = send('/204/0');
    await delay(500);
    expect(behind.status).toBe(PENDING);
    resumeTemporal();
    await becomes(behind, SUCCEEDED);
    for (const delivery of [...ahead, behind]) await resultOf(delivery);
    expect([...ahead, behind].map(received)).toEqual(Array(11).fill(1));
  });

  it('are reported also when their worker stops before Temporal has taken them', async () => {
    const { worker, send, received } = await startDelivering();
    await temporal.kill();
    end.defer(() => temporal.start());
    const delivery = send('/204/12000');
    await vi.waitFor(() => expect(received(delivery)).toBe(1), 40_000);
    await worker.close();
    expect(delivery.status).toBe(SUCCEEDED);
  });

  it('of a batch that is filled while it waits for its turn are one batch', async () => {
    const { send, becomes, resultOf } = await startDelivering({
      settings: { WEBHOOK_BATCH_INTERVAL: '500ms' },
    });
    const deliveries = [];
    for (let sent = 0; sent < 6; sent += 1) {
      deliveries.push(send('/204/0'));
      await becomes(deliveries.at(-1)!, SUCCEEDED);
    }
    const batches = Object.values(Object.groupBy(deliveries, ({ batchId }) => batchId));
    // Claims are half an interval apart.
    expect(batches.length).toBeLessThan(deliveries.length);
    for (const batch of batches) {
      expect(await resultOf(batch![0]!)).toEqual({ succeeded: batch!.length, retrying: 0, skipped: 0 });
    }
  });

  it('are joined by their workflow also while the services take no claims', async () => {
    // The next claim comes two seconds later, and the turn of the batch that is filled after four.
    const { dispatch, send, becomes, resultOf } = await startDelivering({
      settings: { WEBHOOK_BATCH_INTERVAL: '4s' },
    });
    const filling = send('/204/0');
    await becomes(filling, SUCCEEDED);
    dispatch.away.add('claimBatch');
    expect(await resultOf(filling)).toMatchObject({ retrying: 0, skipped: 0 });
    dispatch.away.clear();
  });

  it('share no batch with what a claim took whose answer was lost', async () => {
    const { dispatch, send, becomes } = await startDelivering();
    dispatch.answersToLose = 1;
    const lost = send('/204/0');
    await vi.waitFor(() => expect(dispatch.answersToLose).toBe(0), 40_000);
    const next = send('/204/0');
    await becomes(next, SUCCEEDED);
    expect(lost.batchId).not.toBe('');
    expect(next.batchId).not.toBe(lost.batchId);
  });

  it('are made once also where workflows come to another worker than the one that began them', async () => {
    const { startAnother, send, becomes, received } = await startDelivering({
      server: await startWithoutFirstTasks(),
    });
    for (let workers = 2; workers <= 3; workers += 1) {
      await startAnother();
      // The first start of a worker tells it that Temporal gives no first tasks.
      const deliveries = Array.from({ length: 4 }, () => send('/204/900'));
      for (const delivery of deliveries) await becomes(delivery, SUCCEEDED);
      await delay(1_000);
      expect(deliveries.map(received)).toEqual([1, 1, 1, 1]);
    }
  });

  it('wait for their workflow where its first task may come to another worker', async () => {
    const server = await startWithoutFirstTasks();
    const { pauseTemporal, resumeTemporal, send, becomes, received, resultOf } = await startDelivering({
      server,
    });
    pauseTemporal();
    const delivery = send('/204/0');
    await vi.waitFor(() => expect(delivery.batchId).not.toBe(''), 40_000);
    await delay(500);
    expect(received(delivery)).toBe(0);
    resumeTemporal();
    await becomes(delivery, SUCCEEDED);
    expect(await resultOf(delivery)).toEqual({ succeeded: 1, retrying: 0, skipped: 0 });
    expect(received(delivery)).toBe(1);
  });
});
