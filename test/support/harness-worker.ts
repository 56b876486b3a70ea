import { createLogger } from '../../services/platform/process/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import type { TestHarness } from './harness.ts';
import type { TestNamespace } from './temporal.ts';
import { testWorkflowBundle } from './temporal-namespace.ts';

/** A worker for the services of a harness, on a namespace of Temporal. */
export function startHarnessWorker(
  harness: TestHarness,
  temporal: Pick<TestNamespace, 'address' | 'namespace'>,
): Promise<PaymentsWorker> {
  return startWorker({
    config: { ...harness.config, TEMPORAL_NAMESPACE: temporal.namespace },
    logger: createLogger('fatal'),
    transport: harness.services.transportFor(WORKER_CALLER),
    temporalAddress: temporal.address,
    workflowBundle: testWorkflowBundle(),
  });
}
