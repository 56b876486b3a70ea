import type { Transport } from '@connectrpc/connect';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import type { TestHarness } from './harness.ts';
import type { TestNamespace } from './temporal.ts';
import { testWorkflowBundle } from './temporal-namespace.ts';

/**
 * A worker for the services of a harness, on a namespace of Temporal.
 * @param transport to the services, with the worker's grants. Default: in the process.
 */
export function startHarnessWorker(
  harness: TestHarness,
  temporal: Pick<TestNamespace, 'address' | 'namespace'>,
  transport: Transport = harness.services.transportFor(WORKER_CALLER),
): Promise<PaymentsWorker> {
  return startWorker({
    config: { ...harness.config, TEMPORAL_NAMESPACE: temporal.namespace },
    logger: createLogger('fatal'),
    transport,
    temporalAddress: temporal.address,
    workflowBundle: testWorkflowBundle(),
  });
}
