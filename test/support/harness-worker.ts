import type { Transport } from '@connectrpc/connect';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import type { TestHarness } from './harness.ts';
import type { TestNamespace } from './temporal.ts';
import { testWorkflowBundle } from './temporal-namespace.ts';

export interface HarnessWorkerOptions {
  /** To the services, with the worker's grants. Default: in the process. */
  readonly transport?: Transport;
  /** Whether it creates the Temporal Schedules. Each runs at once, and all take a second of processor time. Default: false. */
  readonly hasSchedules?: boolean;
}

/** A worker for the services of a harness, on a namespace of Temporal. */
export function startHarnessWorker(
  harness: TestHarness,
  temporal: Pick<TestNamespace, 'address' | 'namespace'>,
  {
    transport = harness.services.transportFor(WORKER_CALLER),
    hasSchedules = false,
  }: HarnessWorkerOptions = {},
): Promise<PaymentsWorker> {
  return startWorker({
    config: { ...harness.config, TEMPORAL_NAMESPACE: temporal.namespace },
    logger: createLogger('fatal'),
    transport,
    temporalAddress: temporal.address,
    workflowBundle: testWorkflowBundle(),
    hasSchedules,
  });
}
