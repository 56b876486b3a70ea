import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import {
  bundleWorkflowCode,
  Worker,
  type WorkflowBundleOption,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { sdkLogger } from '../../../workflows/sdk-logger.ts';
import { installRuntime } from '../../../workflows/temporal/temporal-runtime.ts';
import { startWorker } from '../../../workflows/worker.ts';
import { readHistories } from '../../support/recorded-histories.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { testWorkflowBundle } from '../../support/temporal-namespace.ts';
import { DeliverySystem, SOON, type Subscriber } from './delivery-system.ts';

/** Retry workflows that are running while a new version of their code is deployed. */

const { WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR: NON_DETERMINISTIC } =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
const { RETRYING } = DeliveryStatus;
const logger = createLogger('fatal');

let present: WorkflowBundleOption;
let incompatible: WorkflowBundleWithSourceMap;
let compatible: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  installRuntime(logger);
  present = testWorkflowBundle();
  [incompatible, compatible] = await Promise.all([
    bundleChanged('incompatible'),
    bundleChanged('compatible'),
  ]);
});

function bundleChanged(version: string): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL(`changed/${version}.workflows.ts`, import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: sdkLogger(logger) });
}

describe('the replay of recorded histories', () => {
  const histories = readHistories().filter(({ type }) => type === 'retryDelivery');

  async function failuresWith(workflowBundle: WorkflowBundleOption) {
    const failures: unknown[] = [];
    for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
      if (error) failures.push(error);
    }
    return failures;
  }

  it('fails for each of them under an added command', async () => {
    const failures = await failuresWith(incompatible);
    expect(failures.length).toBe(histories.length);
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toBeInstanceOf(DeterminismViolationError);
  });

  it('passes where the same command is added behind patched()', async () => {
    expect(await failuresWith(compatible)).toEqual([]);
  });
});

describe('a retry that runs over a deploy', () => {
  let system: DeliverySystem;
  beforeAll(async () => {
    system = await DeliverySystem.start({ WEBHOOK_SCHEDULE_SANDBOX: '0s,1h' });
    await system.worker!.close();
  }, TEMPORAL_START_MS);
  afterAll(() => system?.[Symbol.asyncDispose]());

  /** A worker with this version of the workflow code, until it is disposed of. */
  async function deploy(workflowBundle: WorkflowBundleOption): Promise<AsyncDisposable> {
    const { harness } = system.webhooks;
    const { address, namespace } = system.temporal;
    const worker = await startWorker({
      config: { ...harness.config, TEMPORAL_NAMESPACE: namespace },
      logger,
      transport: system.transport,
      temporalAddress: address,
      workflowBundle,
      hasSchedules: false,
    });
    return { [Symbol.asyncDispose]: () => worker.close() };
  }

  interface Failed extends Subscriber {
    readonly id: string;
    readonly eventId: string;
  }

  /** Asks a retry for its second attempt now. */
  const retryNow = ({ id }: Failed) => system.retryOf(id).signal('retryNow');
  const resultOf = ({ id }: Failed) => system.retryOf(id).result();
  const historyOf = async ({ id }: Failed) => (await system.retryOf(id).fetchHistory()).events!;

  /** Waits until a worker could not replay the workflow. */
  async function expectNoProgress(failed: Failed): Promise<void> {
    await vi.waitFor(async () => {
      const causes = (await historyOf(failed)).map(
        ({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes?.cause,
      );
      expect(causes).toContain(NON_DETERMINISTIC);
    }, SOON);
  }

  /** A delivery that has failed once, and whose retry workflow waits an hour. Its endpoint recovers. */
  async function failOnce(): Promise<Failed> {
    const subscriber = await system.subscriber();
    subscriber.endpoint.answer(500);
    const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
    const { id } = await system.becomes(subscriber, eventId, RETRYING);
    await system.shows(id, /^attempt 1: HTTP 500/);
    subscriber.endpoint.answer(204);
    return { ...subscriber, id, eventId };
  }

  it('continues under a compatible version, and new workflows run the new code', async () => {
    let before: Failed;
    {
      await using _ = await deploy(present);
      before = await failOnce();
    }
    await using _ = await deploy(compatible);
    const after = await failOnce();
    for (const failed of [before, after]) {
      await retryNow(failed);
      expect(await resultOf(failed)).toBe('SUCCEEDED');
    }
    const waited = async (failed: Failed) =>
      (await historyOf(failed)).some(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
    expect([await waited(before), await waited(after)]).toEqual([false, true]);
  });

  it('continues while workers of both versions run, and a workflow started by the new code waits for a new worker', async () => {
    let [first, second, patched]: Failed[] = [];
    {
      await using _old = await deploy(present);
      [first, second] = [await failOnce(), await failOnce()];
      await using _new = await deploy(compatible);
      await retryNow(first);
      expect(await resultOf(first)).toBe('SUCCEEDED');
    }
    {
      await using _new = await deploy(compatible);
      patched = await failOnce();
    }
    {
      // The release is rolled back: workflows of the old one continue.
      await using _old = await deploy(present);
      await Promise.all([retryNow(second), retryNow(patched)]);
      expect(await resultOf(second)).toBe('SUCCEEDED');
      await expectNoProgress(patched);
      expect(patched.endpoint.eventIds).toHaveLength(1);
    }
    await using _new = await deploy(compatible);
    expect(await resultOf(patched)).toBe('SUCCEEDED');
    for (const { endpoint } of [first, second, patched]) expect(endpoint.eventIds).toHaveLength(2);
  });

  it('stops under an incompatible version, and continues once that is rolled back', async () => {
    let failed: Failed;
    {
      await using _ = await deploy(present);
      failed = await failOnce();
    }
    {
      await using _ = await deploy(incompatible);
      await retryNow(failed);
      await expectNoProgress(failed);
      expect((await system.deliveryOf(failed, failed.eventId)).status).toBe(RETRYING);
      expect(failed.endpoint.eventIds).toHaveLength(1);
    }
    await using _ = await deploy(present);
    expect(await resultOf(failed)).toBe('SUCCEEDED');
    expect(failed.endpoint.eventIds).toHaveLength(2);
  });
});
