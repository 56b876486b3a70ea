import { randomUUID } from 'node:crypto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as refundFunding from '../../../services/contracts/refunds/refund-funding.contract.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { installRuntime } from '../../../workflows/temporal/temporal-runtime.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace, testWorkflowBundle } from '../../support/temporal-namespace.ts';

const TASK_QUEUE = 'funding-history';
const REFUNDS = 60;

let temporal: TestNamespace;
let connection: NativeConnection;
beforeAll(async () => {
  installRuntime(createLogger('fatal'));
  temporal = await createTestNamespace();
  connection = await NativeConnection.connect({ address: temporal.address });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await connection.close();
  await temporal[Symbol.asyncDispose]();
});

it('executes any number of waiting refunds in runs with bounded histories, each refund once', async () => {
  const waiting = Array.from({ length: REFUNDS }, () => randomUUID());
  const started: string[] = [];
  const executed: string[] = [];
  const worker = await Worker.create({
    connection,
    taskQueue: TASK_QUEUE,
    namespace: temporal.namespace,
    workflowBundle: testWorkflowBundle(),
    activities: {
      findCoveredRefund: async () => {
        const refundCaseId = waiting[executed.length];
        return refundCaseId === undefined ? null : { refundCaseId, execution: 1 };
      },
      startWaitingRefund: async ({ refundCaseId }: refundFunding.WaitingRefund) => {
        started.push(refundCaseId);
        return 'STARTED';
      },
      awaitExecution: async ({ refundCaseId }: refundFunding.WaitingRefund) => {
        executed.push(refundCaseId);
      },
    },
  });
  const workflowId = refundFunding.workflowId(randomUUID());
  const input = { merchantId: randomUUID(), environment: 'live', refundCaseId: waiting[0] };
  await worker.runUntil(
    temporal.client.workflow.execute(refundFunding.workflowType, {
      taskQueue: TASK_QUEUE,
      workflowId,
      args: [input],
    }),
  );
  expect(executed).toEqual(waiting);
  expect(started).toEqual(waiting);
  const runs: number[] = [];
  for await (const run of temporal.client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    runs.push(run.historyLength);
  }
  expect(runs).toHaveLength(2);
  expect(Math.max(...runs)).toBeLessThan(2_000);
});
