import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { scheduleId, workflowType } from '../../../workflows/funds/daily-release.contract.ts';
import { ensureSchedules } from '../../../workflows/schedules.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { verifyFunds } from '../../services/funds/verification/verify-funds.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant } from '../../support/harness.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { startFundsWorkflows } from './funds-workflows.ts';

const SOLD = '2020-06-20';

let workflows: Awaited<ReturnType<typeof startFundsWorkflows>>;
beforeAll(async () => {
  workflows = await startFundsWorkflows();
}, TEMPORAL_START_MS);
afterAll(() => workflows.close());

const daily = () => workflows.run(workflowType, `daily-${randomUUID()}`);

it('releases everything due, once, and refuses advances that were not paid out in time', async () => {
  const { harness, advances } = workflows;
  const plain = fundsCaller(harness.transports.inProcess, newTenant(Environment.TEST));
  await plain.sell({ on: SOLD, gross: 300n, installments: 3 });
  const advanced = fundsCaller(harness.transports.inProcess);
  await advanced.sell({ on: SOLD, gross: 200n, installments: 2 });
  const { quote } = await advances.quoteAdvance({ ...advanced.write(SOLD), maxAmountMinor: 100n });
  const { advanceRequest } = await advances.requestAdvance({ ...advanced.write(SOLD), quoteId: quote!.id });
  expect(await daily()).toEqual({
    releasedInstallments: 5,
    refusedRequests: 1,
    leftRequests: 0,
    failedAccounts: 0,
  });
  expect(await daily()).toEqual({
    releasedInstallments: 0,
    refusedRequests: 0,
    leftRequests: 0,
    failedAccounts: 0,
  });
  const request = { ...advanced.tenant, advanceRequestId: advanceRequest!.id };
  const refused = await advances.getAdvanceRequest(request);
  expect(refused.advanceRequest).toMatchObject({
    status: AdvanceRequestStatus.REFUSED,
    reviewReason: 'The date of a covered installment came before the payout.',
  });
  expect(await advanced.balance()).toMatchObject({ availableAmountMinor: 200n, scheduledAmountMinor: 0n });
  expect(await plain.balance()).toMatchObject({ availableAmountMinor: 300n });
  await verifyFunds(harness);
});

describe('a reservation without its request', () => {
  /** Runs the activity as an attempt that was scheduled a while ago. */
  async function refusedAfter(minutes: number) {
    const { harness, activities } = workflows;
    const funds = fundsCaller(harness.transports.inProcess);
    await funds.sell({ on: SOLD, gross: 100n });
    const advanceRequestId = randomUUID();
    await funds.reserve((await funds.advanceable(SOLD)).installments, advanceRequestId, SOLD);
    const due = { merchantId: funds.tenant.merchantId, environment: 'live' as const, advanceRequestId };
    const scheduledTimestampMs = Date.now() - minutes * 60_000;
    const environment = new MockActivityEnvironment({ scheduledTimestampMs });
    const outcome = await environment
      .run(activities.refuseDueRequest, due)
      .catch((failure: unknown) => failure);
    return { funds, advanceRequestId, outcome };
  }

  it('is checked again while the request may still arrive', async () => {
    const { funds, advanceRequestId, outcome } = await refusedAfter(19);
    expect(outcome).toBeInstanceOf(Error);
    expect(outcome).not.toBeInstanceOf(ApplicationFailure);
    expect(await funds.balance()).toMatchObject({ scheduledAmountMinor: 100n });
    await funds.free(advanceRequestId);
    await funds.releaseDue();
  });

  it('is freed once it must have been abandoned', async () => {
    const { funds, advanceRequestId, outcome } = await refusedAfter(21);
    expect(outcome).toBe('REFUSED');
    await funds.releaseDue();
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 100n });
    const again = funds.reserve([{ id: randomUUID(), version: 1n }], advanceRequestId, SOLD);
    await expectRefusal(again, Code.FailedPrecondition, 'RESERVATION_FREED');
  });
});

it('continues where the previous run ended', async () => {
  const { harness, advances } = workflows;
  const funds = fundsCaller(harness.transports.inProcess);
  await funds.sell({ on: SOLD, gross: 100n });
  const { quote } = await advances.quoteAdvance({ ...funds.write(SOLD), maxAmountMinor: 100n });
  const { advanceRequest } = await advances.requestAdvance({ ...funds.write(SOLD), quoteId: quote!.id });
  const progress = { releasedInstallments: 7, refusedRequests: 2, leftRequests: 1, failedAccounts: 0 };
  const input = { ...progress, handled: [advanceRequest!.id] };
  expect(await workflows.run(workflowType, `daily-${randomUUID()}`, input)).toEqual(progress);
  expect(await daily()).toEqual({
    releasedInstallments: 1,
    refusedRequests: 1,
    leftRequests: 0,
    failedAccounts: 0,
  });
});

it("releases everybody else's funds while a request cannot be refused", async () => {
  const { harness, temporal } = workflows;
  const funds = fundsCaller(harness.transports.inProcess);
  await funds.sell({ on: SOLD, gross: 100n });
  const advanceRequestId = randomUUID();
  await funds.reserve((await funds.advanceable(SOLD)).installments, advanceRequestId, SOLD);
  // More than one call releases.
  const others = Array.from({ length: 25 }, () => fundsCaller(harness.transports.inProcess));
  for (const other of others) await other.sell({ on: SOLD, gross: 70n });
  const workflowId = `daily-${randomUUID()}`;
  const handle = await temporal.client.workflow.start(workflowType, { taskQueue: TASK_QUEUE, workflowId });
  await vi.waitFor(
    async () => {
      const balances = await Promise.all(others.map((other) => other.balance()));
      expect(balances.map(({ availableAmountMinor }) => availableAmountMinor)).toEqual(others.map(() => 70n));
    },
    { timeout: 40_000, interval: 200 },
  );
  await handle.terminate();
  await funds.free(advanceRequestId);
});

it('is started by Temporal at once, then every hour, so that it runs soon after the account’s midnight', async () => {
  const { harness, temporal } = workflows;
  const funds = fundsCaller(harness.transports.inProcess);
  await funds.sell({ on: SOLD, gross: 70n });
  await ensureSchedules(temporal.client, vi.fn());
  const schedule = temporal.client.schedule.getHandle(scheduleId);
  const { info } = await schedule.describe();
  const [next, afterNext] = info.nextActionTimes;
  expect(next?.toISOString()).toMatch(/:01:00.000Z$/);
  expect(afterNext!.getTime() - next!.getTime()).toBe(3_600_000);
  const released = async () => expect(await funds.balance()).toMatchObject({ availableAmountMinor: 70n });
  await vi.waitFor(released, { timeout: 40_000, interval: 200 });
});

it('updates a Schedule of another version to its own definition, and keeps a pause', async () => {
  const { client } = workflows.temporal;
  await ensureSchedules(client, () => Promise.reject(new Error('all Schedules exist')));
  const schedule = client.schedule.getHandle(scheduleId);
  await schedule.pause();
  await expect.poll(async () => (await schedule.describe()).state.paused).toBe(true);
  await schedule.update((now) => ({
    ...now,
    spec: { intervals: [{ every: '1 day' }] },
    action: { ...now.action, memo: { definition: 'of another version' } },
  }));
  await ensureSchedules(client, vi.fn());
  const { spec, state } = await schedule.describe();
  expect(spec.intervals).toMatchObject([{ every: 3_600_000 }]);
  expect(state.paused).toBe(true);
  for await (const { scheduleId } of client.schedule.list())
    await client.schedule.getHandle(scheduleId).delete();
});
