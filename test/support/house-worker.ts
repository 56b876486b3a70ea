import { createLogger } from '../../services/platform/telemetry.ts';
import { type PaymentsWorker, startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import type { TestHouse } from './house.ts';
import type { TestTemporal } from './temporal.ts';

/** A worker for the services of a house, on a Temporal. */
export function startHouseWorker(
  house: TestHouse,
  temporal: Pick<TestTemporal, 'address'>,
): Promise<PaymentsWorker> {
  return startWorker({
    config: house.config,
    logger: createLogger('fatal'),
    transport: house.services.transportFor(WORKER_CALLER),
    temporalAddress: temporal.address,
  });
}
