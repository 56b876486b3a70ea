import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DispatchService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ensureSchedules } from '../../../workflows/schedules.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { createRetentionActivities } from '../../../workflows/webhooks/retention.activities.ts';
import { scheduleId, workflowType } from '../../../workflows/webhooks/retention.contract.ts';
import { backdate, partitionNames } from '../../services/webhooks/webhook-past.ts';
import { webhooksFixture } from '../../services/webhooks/webhooks-fixture.ts';
import { startActivityWorker } from '../../support/activity-worker.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';

type Activities = ReturnType<typeof createRetentionActivities>;

let harness: TestHarness;
let temporal: TestNamespace;
beforeAll(async () => {
  [harness, temporal] = await Promise.all([startHarness({ SERVICES: 'webhooks' }), createTestNamespace()]);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await temporal[Symbol.asyncDispose]();
  await harness.close();
});

/** Runs a worker with these activities. */
async function working<T>(activities: Activities, work: () => Promise<T>): Promise<T> {
  const worker = await startActivityWorker(temporal, activities);
  try {
    return await work();
  } finally {
    await worker.close();
  }
}

/** Over the port, as the worker calls. */
const retention = () =>
  createRetentionActivities({ dispatch: createClient(DispatchService, harness.transports.connect) });

it('is applied by a Schedule every hour, and reports what was dropped', async () => {
  const fixture = webhooksFixture(harness, harness.transports.inProcess);
  const tenant = newTenant();
  await fixture.subscribe(tenant);
  await backdate(fixture, tenant.merchantId, '68 days');
  const before = await partitionNames(fixture, 'live');
  await ensureSchedules(temporal.client, vi.fn());
  await ensureSchedules(temporal.client, vi.fn());
  const schedule = temporal.client.schedule.getHandle(scheduleId);
  const { info, policies } = await schedule.describe();
  expect(policies.catchupWindow).toBe(60_000);
  const [next, second] = info.nextActionTimes.map((time) => time.getTime());
  expect(second! - next!).toBe(3_600_000);
  await working(retention(), async () => {
    const workflowId = await vi.waitFor(
      // Each Schedule runs at once when it is created.
      async () => (await schedule.describe()).info.recentActions[0]!.action.workflow.workflowId,
      { timeout: 40_000, interval: 200 },
    );
    const result = await temporal.client.workflow.getHandle(workflowId).result();
    const after = await partitionNames(fixture, 'live');
    const gone = before.filter((name) => !after.includes(name));
    expect(gone.length).toBeGreaterThanOrEqual(3);
    // The ping of the subscription, which was never sent: it is kept twice as long as others.
    expect(result).toEqual({
      createdPartitions: [],
      droppedPartitions: expect.toSatisfy((names: string[]) => names.toSorted().join() === gone.join()),
      waitingPartitions: [],
      expiredDeliveries: 1,
    });
  });
  // The workers of these tests have the workflow of this Schedule only.
  const { client } = temporal;
  for await (const { scheduleId } of client.schedule.list())
    await client.schedule.getHandle(scheduleId).delete();
  const running = client.workflow.list({ query: "ExecutionStatus = 'Running'" });
  for await (const { workflowId } of running) await client.workflow.getHandle(workflowId).terminate();
});

it('continues past failures until nothing is left, and adds up the results', async () => {
  const steps = [
    {
      created: ['event_live_20260601'],
      dropped: [],
      waiting: ['event_live_20260101'],
      expired: 500,
      more: true,
    },
    new ConnectError('another call is applying the retention', Code.Aborted),
    {
      created: [],
      dropped: ['event_live_20260101'],
      waiting: ['attempt_live_20260101'],
      expired: 3,
      more: true,
    },
    { created: [], dropped: ['attempt_live_20260101'], waiting: [], expired: 0, more: false },
  ];
  let calls = 0;
  const workflowId = 'retention-in-steps';
  const result = await working(
    {
      async applyRetention() {
        const step = steps[calls++]!;
        if (step instanceof Error) throw step;
        return {
          createdPartitions: step.created,
          droppedPartitions: step.dropped,
          waitingPartitions: step.waiting,
          expiredDeliveries: step.expired,
          more: step.more,
        };
      },
    },
    async () => {
      const started = { taskQueue: TASK_QUEUE, workflowId };
      const handle = await temporal.client.workflow.start(workflowType, started);
      const end = await handle.result();
      const shown = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      expect(shown.currentDetails).toContain('Dropped: event_live_20260101, attempt_live_20260101.');
      return end;
    },
  );
  expect(calls).toBe(steps.length);
  expect(result).toEqual({
    createdPartitions: ['event_live_20260601'],
    droppedPartitions: ['event_live_20260101', 'attempt_live_20260101'],
    waitingPartitions: [],
    expiredDeliveries: 503,
  });
});
