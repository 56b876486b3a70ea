import { createLogger } from '../../services/platform/process/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import type { TestHarness } from './harness.ts';
import type { TestTemporal } from './temporal.ts';

/** A worker for the services of a harness, on a Temporal. */
export function startHarnessWorker(
  harness: TestHarness,
  temporal: Pick<TestTemporal, 'address'>,
): Promise<PaymentsWorker> {
  return startWorker({
    config: harness.config,
    logger: createLogger('fatal'),
    transport: harness.services.transportFor(WORKER_CALLER),
    temporalAddress: temporal.address,
  });
}
