import { createClient } from '@connectrpc/connect';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { createAdvanceActivities } from '../../../workflows/advances/advance.activities.ts';
import { createFundsActivities } from '../../../workflows/funds/funds.activities.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { startActivityWorker } from '../../support/activity-worker.ts';
import { startHarness } from '../../support/harness.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';

/**
 * Funds and advances with their common workflows, on their own database and Temporal. The worker calls the services
 * over the port, like a separate process.
 */
export async function startFundsWorkflows() {
  const [harness, temporal] = await Promise.all([
    startHarness({ SERVICES: 'funds,advances' }),
    createTestNamespace(),
  ]);
  const clients = {
    advances: createClient(AdvanceService, harness.transports.connect),
    funds: createClient(FundsService, harness.transports.connect),
  };
  const activities = { ...createFundsActivities(clients), ...createAdvanceActivities(clients) };
  const worker = await startActivityWorker(temporal, activities);
  return {
    harness,
    temporal,
    activities,
    ...clients,
    /** Runs a workflow until it ends. */
    run: (workflowType: string, workflowId: string, ...args: unknown[]) =>
      temporal.client.workflow.execute(workflowType, { taskQueue: TASK_QUEUE, workflowId, args }),
    async close() {
      await worker.close();
      await temporal[Symbol.asyncDispose]();
      await harness.close();
    },
  };
}
