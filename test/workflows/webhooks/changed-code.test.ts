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
import { connectProviders } from '../../../workflows/provider-clients.ts';
import { installRuntime, sdkLogger } from '../../../workflows/temporal/temporal-runtime.ts';
import { createDelivery } from '../../../workflows/webhooks/delivery.ts';
import { openSession } from '../../../workflows/worker-session.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { readHistories } from '../../support/recorded-histories.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace, testWorkflowBundle } from '../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { type MemoryDelivery, MemoryDispatch } from './memory-dispatch.ts';

/** What becomes of retry workflows that run while a new version of their code is deployed. */

const { WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR: NON_DETERMINISTIC } =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
const HOUR_MS = 3_600_000;
const { RETRYING, SUCCEEDED } = DeliveryStatus;
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
  const dispatch = new MemoryDispatch();
  let temporal: TestNamespace;
  let receiver: Receiver;
  beforeAll(async () => {
    temporal = await createTestNamespace();
    receiver = await startFailingOnce();
  }, TEMPORAL_START_MS);
  afterAll(async () => {
    await receiver?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
  });

  function startFailingOnce(): Promise<Receiver> {
    const seen = new Set<unknown>();
    return startReceiver((request, response) => {
      const id = request.headers['webhook-id'];
      response.writeHead(seen.has(id) ? 204 : 500).end();
      seen.add(id);
    });
  }

  /** A worker with this version of the workflow code, until it is disposed of. */
  async function deploy(workflowBundle: WorkflowBundleOption): Promise<AsyncDisposable> {
    const config = testConfig({ ...loopbackSettings(), TEMPORAL_NAMESPACE: temporal.namespace });
    const { transport } = dispatch;
    const delivery = createDelivery(config, transport, logger);
    const providers = connectProviders(config);
    const session = await openSession({
      ...{ config, transport, logger, delivery, providers, workflowBundle },
      temporalAddress: temporal.address,
    });
    return {
      async [Symbol.asyncDispose]() {
        await session.stop();
        await delivery.close();
        providers.close();
      },
    };
  }

  const retryOf = ({ id }: MemoryDelivery) => temporal.client.workflow.getHandle(`delivery-${id}`);
  const historyOf = async (delivery: MemoryDelivery) => (await retryOf(delivery).fetchHistory()).events!;

  /** A delivery that has failed once, and whose retry workflow waits an hour. */
  async function failOnce(): Promise<MemoryDelivery> {
    const delivery = dispatch.add(`https://localhost:${receiver.port}/`, [0, HOUR_MS]);
    await vi.waitFor(
      async () => {
        const { raw } = await retryOf(delivery).describe();
        expect(raw.pendingActivities?.[0]?.lastFailure?.message).toMatch(/^attempt 1: HTTP 500/);
      },
      { timeout: 40_000 },
    );
    return delivery;
  }

  async function ends(delivery: MemoryDelivery) {
    expect(await retryOf(delivery).result()).toBe('SUCCEEDED');
    expect(delivery.status).toBe(SUCCEEDED);
  }

  it('goes on with a compatible version, and new ones go the new way', async () => {
    let before: MemoryDelivery;
    {
      await using _ = await deploy(present);
      before = await failOnce();
    }
    await using _ = await deploy(compatible);
    const after = await failOnce();
    for (const delivery of [before, after]) {
      await retryOf(delivery).signal('retryNow');
      await ends(delivery);
    }
    const waited = async (delivery: MemoryDelivery) =>
      (await historyOf(delivery)).some(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
    expect([await waited(before), await waited(after)]).toEqual([false, true]);
  });

  it('stands still under an incompatible one, and goes on once that is taken back', async () => {
    let delivery: MemoryDelivery;
    {
      await using _ = await deploy(present);
      delivery = await failOnce();
    }
    {
      await using _ = await deploy(incompatible);
      await retryOf(delivery).signal('retryNow');
      await vi.waitFor(
        async () => {
          const causes = (await historyOf(delivery)).map(
            ({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes?.cause,
          );
          expect(causes).toContain(NON_DETERMINISTIC);
        },
        { timeout: 40_000 },
      );
      expect(delivery.status).toBe(RETRYING);
      expect(delivery.reports).toHaveLength(1);
    }
    await using _ = await deploy(present);
    await ends(delivery);
  });
}, 120_000);
