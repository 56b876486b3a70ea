import { randomUUID } from 'node:crypto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import * as refundFunding from '../../services/contracts/refunds/refund-funding.contract.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import * as dailyRelease from '../../workflows/funds/daily-release.contract.ts';
import * as nightlyVerification from '../../workflows/funds/nightly-verification.contract.ts';
import { installRuntime } from '../../workflows/temporal/temporal-runtime.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace, testWorkflowBundle } from '../support/temporal-namespace.ts';

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

/** Runs a workflow with activities of the test; returns its result and the history length of each run. */
async function runWith(
  workflowType: string,
  activities: Record<string, (...args: never[]) => unknown>,
  args: unknown[] = [],
) {
  const taskQueue = randomUUID();
  const { namespace } = temporal;
  const workflowBundle = testWorkflowBundle();
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle, activities });
  const workflowId = randomUUID();
  const started = temporal.client.workflow.execute(workflowType, { taskQueue, workflowId, args });
  const result = await worker.runUntil(started);
  const query = `WorkflowId = '${workflowId}'`;
  const runs = await Array.fromAsync(temporal.client.workflow.list({ query }), (run) => run.historyLength);
  return { result, runs };
}

// Concurrent, because each waits for Temporal most of the time.
describe.concurrent('workflows over any number of records', () => {
  it('releases any backlog in runs with bounded histories, handling each due request once', async () => {
    const due = Array.from({ length: 60 }, () => ({
      merchantId: randomUUID(),
      environment: 'live',
      advanceRequestId: randomUUID(),
    }));
    const refused: string[] = [];
    let calls = 0;
    const { result, runs } = await runWith(dailyRelease.workflowType, {
      releaseDueFunds: async () => {
        calls += 1;
        const unfinishedAccounts = calls < 45 ? 1 : 0;
        return {
          releasedInstallments: 3,
          hasMore: calls < 45,
          unfinishedAccounts,
          failedAccounts: 0,
          dueRequests: due,
        };
      },
      refuseDueRequest: async ({ advanceRequestId }: (typeof due)[number]) => {
        refused.push(advanceRequestId);
        return refused.length % 2 ? 'REFUSED' : 'PAID_OUT';
      },
    });
    // The 45th call has everything released and the requests refused, the next one finds nothing new.
    expect(result).toEqual({
      releasedInstallments: 46 * 3,
      refusedRequests: 30,
      leftRequests: 0,
      failedAccounts: 0,
    });
    expect(refused.sort()).toEqual(due.map(({ advanceRequestId }) => advanceRequestId).sort());
    expect(runs).toHaveLength(2);
    expect(Math.max(...runs)).toBeLessThan(2_000);
  }, 180_000);

  it('goes over all accounts until none has more due, past those that fail', async () => {
    const [one, two] = [randomUUID(), randomUUID()].map((merchantId) => ({
      merchantId,
      environment: 'live',
    }));
    const step = {
      releasedInstallments: 1,
      dueRequests: [],
      hasMore: true,
      unfinishedAccounts: 0,
      failedAccounts: 0,
    };
    const steps = [
      { ...step, next: one, unfinishedAccounts: 1 },
      { ...step, next: two, failedAccounts: 3 },
      { ...step, hasMore: false },
      { ...step, next: two, failedAccounts: 2 },
      { ...step, hasMore: false },
    ];
    const calls: unknown[] = [];
    const { result } = await runWith(dailyRelease.workflowType, {
      releaseDueFunds: async (after?: typeof one) => {
        calls.push(after);
        return steps[calls.length - 1]!;
      },
      refuseDueRequest: async () => 'REFUSED',
    });
    expect(calls).toEqual([undefined, one, two, undefined, two]);
    expect(result).toEqual({
      releasedInstallments: 5,
      refusedRequests: 0,
      leftRequests: 0,
      failedAccounts: 2,
    });
  }, 180_000);

  it('verifies any number of accounts in runs with bounded histories, each once', async () => {
    const accounts = Array.from({ length: 102 }, () => ({ merchantId: randomUUID(), environment: 'live' }));
    const verified: string[] = [];
    const { result, runs } = await runWith(nightlyVerification.workflowType, {
      verifyAccounts: async (after?: (typeof accounts)[number]) => {
        const index = accounts.findIndex(({ merchantId }) => merchantId === after?.merchantId) + 1;
        const account = accounts[index]!;
        verified.push(account.merchantId);
        const isLast = index === accounts.length - 1;
        const failedAccounts = index === 30 ? 1 : 0;
        return {
          verifiedAccounts: 1,
          differences: index % 2,
          failedAccounts,
          ...(!isLast && { next: account }),
        };
      },
    });
    expect(result).toEqual({ verifiedAccounts: 102, differences: 51, failedAccounts: 1 });
    expect(verified).toEqual(accounts.map(({ merchantId }) => merchantId));
    expect(runs).toHaveLength(2);
    expect(Math.max(...runs)).toBeLessThan(2_000);
  }, 180_000);

  it('executes any number of waiting refunds in runs with bounded histories, each refund once', async () => {
    const waiting = Array.from({ length: 52 }, () => randomUUID());
    const started: string[] = [];
    const executed: string[] = [];
    const activities = {
      findCoveredRefund: async () => {
        const refundCaseId = waiting[executed.length];
        return refundCaseId === undefined ? null : { refundCaseId, execution: 1 };
      },
      startWaitingRefund: async ({ refundCaseId }: RefundCaseKey) => {
        started.push(refundCaseId);
        return 'STARTED';
      },
      awaitExecution: async ({ refundCaseId }: RefundCaseKey) => {
        executed.push(refundCaseId);
      },
    };
    const input = { merchantId: randomUUID(), environment: 'live', refundCaseId: waiting[0] };
    const { runs } = await runWith(refundFunding.workflowType, activities, [input]);
    expect(executed).toEqual(waiting);
    expect(started).toEqual(waiting);
    expect(runs).toHaveLength(2);
    expect(Math.max(...runs)).toBeLessThan(2_000);
  }, 180_000);
});
