import { createClient } from '@connectrpc/connect';
import { NativeConnection, Worker } from '@temporalio/worker';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { createAdvanceActivities } from '../../../workflows/advances/advance.activities.ts';
import { createFundsActivities } from '../../../workflows/funds/funds.activities.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { installRuntime } from '../../../workflows/temporal/temporal-runtime.ts';
import { startHarness } from '../../support/harness.ts';
import { recordHistories } from '../../support/recorded-histories.ts';
import { createTestNamespace, testWorkflowBundle } from '../../support/temporal-namespace.ts';

/**
 * Funds and advances with their common workflows, on their own database and Temporal. The worker calls the services
 * over the port, like a separate process.
 */
export async function startFundsWorkflows() {
  const [harness, temporal] = await Promise.all([
    startHarness({ SERVICES: 'funds,advances' }),
    createTestNamespace(),
  ]);
  installRuntime(createLogger('fatal'));
  const clients = {
    advances: createClient(AdvanceService, harness.transports.connect),
    funds: createClient(FundsService, harness.transports.connect),
  };
  const activities = { ...createFundsActivities(clients), ...createAdvanceActivities(clients) };
  const connection = await NativeConnection.connect({ address: temporal.address });
  const worker = await Worker.create({
    connection,
    taskQueue: TASK_QUEUE,
    namespace: temporal.namespace,
    workflowBundle: testWorkflowBundle(),
    activities,
  });
  const running = worker.run();
  return {
    harness,
    temporal,
    activities,
    ...clients,
    /** Runs a workflow until it ends. */
    run: (workflowType: string, workflowId: string, ...args: unknown[]) =>
      temporal.client.workflow.execute(workflowType, { taskQueue: TASK_QUEUE, workflowId, args }),
    async close() {
      const { RECORD_HISTORIES } = process.env;
      if (RECORD_HISTORIES) await recordHistories(temporal.client, RECORD_HISTORIES);
      worker.shutdown();
      await running;
      await connection.close();
      await temporal[Symbol.asyncDispose]();
      await harness.close();
    },
  };
}
