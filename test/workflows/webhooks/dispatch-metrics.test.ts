import { randomUUID } from 'node:crypto';
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { DeliveryStatus, DispatchService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { AttemptReporter } from '../../../workflows/webhooks/attempt-reporter.ts';
import type { OpenAttempts } from '../../../workflows/webhooks/open-attempts.ts';
import { type PaymentsWorker, startWorker } from '../../../workflows/worker.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { scrape } from '../../support/scrape.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../../support/temporal.ts';
import { testWorkflowBundle } from '../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { MemoryDispatch } from './memory-dispatch.ts';

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

async function startWith(dispatch: MemoryDispatch, settings: Record<string, string> = {}) {
  const config = testConfig({
    ...loopbackSettings(),
    TEMPORAL_NAMESPACE: `test-${randomUUID()}`,
    ...settings,
  });
  worker = await startWorker({
    ...{ config, logger: createLogger('fatal'), transport: dispatch.transport },
    temporalAddress: temporal.address,
    workflowBundle: testWorkflowBundle(),
  });
}

const errorsOf = (kind: string) => `payments_webhook_dispatch_errors_total{kind="${kind}"}`;

describe('the metrics of a worker', { timeout: 140_000 }, () => {
  it('tell how large its batches are and how long its attempts take', async () => {
    const dispatch = new MemoryDispatch();
    await startWith(dispatch);
    const earlier = await scrape();
    const deliveries = Array.from({ length: 30 }, () => dispatch.add(`https://localhost:${receiver.port}/`));
    await vi.waitFor(
      () =>
        expect(deliveries.map(({ status }) => status)).toEqual(
          deliveries.map(() => DeliveryStatus.SUCCEEDED),
        ),
      40_000,
    );
    const later = await scrape();
    const rise = (sample: string) => later(sample)! - (earlier(sample) ?? 0);
    expect(rise('payments_webhook_batch_size_sum')).toBe(30);
    expect(rise('payments_webhook_batch_size_count')).toBeLessThan(30);
    expect(rise('payments_webhook_attempt_duration_seconds_count{environment="test"}')).toBe(30);
    expect(rise('payments_webhook_attempt_duration_seconds_sum{environment="test"}')).toBeGreaterThan(0);
    expect(rise('payments_webhook_attempts_total{environment="test",outcome="delivered"}')).toBe(30);
    expect(later('payments_webhook_attempts_open')).toBe(0);
  });

  it('count work that Temporal does not take, and reports that the services do not', async () => {
    const earlier = await scrape();
    const dispatch = new MemoryDispatch();
    dispatch.command({ kind: WorkflowCommandKind.UNSPECIFIED, workflowId: 'none' });
    await startWith(dispatch);
    await vi.waitFor(
      async () =>
        expect((await scrape())(errorsOf('HAND_OVER'))).toBeGreaterThan(earlier(errorsOf('HAND_OVER'))!),
      40_000,
    );
    const refuses = createRouterTransport(({ rpc }) =>
      rpc(DispatchService.method.reportAttempts, () => {
        throw new ConnectError('no', Code.PermissionDenied);
      }),
    );
    const closed = Promise.withResolvers<void>();
    const reporter = new AttemptReporter({
      dispatch: createClient(DispatchService, refuses),
      attempts: { close: () => closed.resolve() } as unknown as OpenAttempts,
      logger: createLogger('silent'),
    });
    const startedAt = new Date();
    const ended = Promise.resolve({ startedAt, latencyMs: 1, failureKind: 'DNS' as const });
    const attempt = {
      deliveryId: randomUUID(),
      attemptNumber: 1,
      generation: 1n,
      startedAt,
      deadlineAt: startedAt,
    };
    reporter.reportLater([{ ...attempt, ended }]);
    await closed.promise;
    expect((await scrape())(errorsOf('REPORT'))).toBe(earlier(errorsOf('REPORT'))! + 1);
  });

  it('tell whether Temporal answers, and count what fails while it does not', async () => {
    await startWith(new MemoryDispatch());
    await vi.waitFor(async () => expect((await scrape())('payments_temporal_up')).toBe(1), 40_000);
    const before = (await scrape())(errorsOf('CLAIM'))!;
    await temporal.kill();
    await vi.waitFor(async () => expect((await scrape())('payments_temporal_up')).toBe(0), 40_000);
    await vi.waitFor(async () => expect((await scrape())(errorsOf('CLAIM'))).toBeGreaterThan(before), 40_000);
    await temporal.start();
    await vi.waitFor(async () => expect((await scrape())('payments_temporal_up')).toBe(1), 40_000);
  });
});
