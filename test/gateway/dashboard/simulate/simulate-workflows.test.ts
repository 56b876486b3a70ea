import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startHarnessWorker } from '../../../support/harness-worker.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../../support/temporal.ts';
import { createTestNamespace } from '../../../support/temporal-namespace.ts';
import { eventually } from '../../../workflows/refunds/refund-harness.ts';
import { type DashboardFixture, startDashboardFixture } from '../dashboard-fixture.ts';
import { idIn, type SandboxFixture, sandboxFixture, stateOn, stepsOn } from './sandbox-fixture.ts';

let fixture: DashboardFixture;
let temporal: TestNamespace;
let worker: Awaited<ReturnType<typeof startHarnessWorker>>;
beforeAll(async () => {
  [fixture, temporal] = await Promise.all([startDashboardFixture(), createTestNamespace()]);
  worker = await startHarnessWorker(fixture.harness, temporal);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
  await temporal?.[Symbol.asyncDispose]();
});

const funds = () => createClient(FundsService, fixture.transport);
const tenantOf = ({ merchantId }: SandboxFixture) => ({ merchantId, environment: Environment.TEST });

it('is consistent with the workflow when both continue an execution', async () => {
  const panel = await sandboxFixture(fixture);
  const sale = await panel.sell();
  const opened = await panel.visitor.submit(sale, '/simulate/refund-cases', { who: 'MERCHANT' });
  const started = await panel.step(opened, 'start');
  // The workflow may have been quicker than this page.
  if (stepsOn(started).includes('complete')) {
    expect((await panel.step(started, 'complete')).status).toBe(200);
  }
  const path = `${panel.home}/refunds/${idIn(opened)}`;
  await eventually(async () => expect(stateOn(await panel.visitor.get(path))).toBe('PROCESSING'));
  expect((await funds().getBalance(tenantOf(panel))).availableAmountMinor).toBe(0n);
  expect((await funds().verifyFunds(tenantOf(panel))).differences).toEqual([]);
});
