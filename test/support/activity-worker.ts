import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { TASK_QUEUE } from '../../workflows/temporal/task-queue.ts';
import { installRuntime } from '../../workflows/temporal/temporal-runtime.ts';
import type { TestNamespace } from './temporal.ts';
import { testWorkflowBundle } from './temporal-namespace.ts';

type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'>;

/** A worker with these activities and without the relay, so that only the test starts workflows. */
export async function startActivityWorker(
  { address, namespace }: TestNamespace,
  activities: object,
  code: WorkflowCode = { workflowBundle: testWorkflowBundle() },
) {
  installRuntime(createLogger('fatal'));
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ connection, namespace, taskQueue: TASK_QUEUE, activities, ...code });
  const running = worker.run();
  return {
    async close() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
