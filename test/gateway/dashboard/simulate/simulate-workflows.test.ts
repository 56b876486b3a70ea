import { createClient } from '@connectrpc/connect';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { sharedChromium } from '../../../support/chromium.ts';
import { startHarnessWorker } from '../../../support/harness-worker.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../../support/temporal.ts';
import { createTestNamespace } from '../../../support/temporal-namespace.ts';
import { eventually } from '../../../workflows/refunds/refund-harness.ts';
import { openWindow } from '../chromium-fixture.ts';
import { type DashboardFixture, startDashboardFixture } from '../dashboard-fixture.ts';
import { idIn, type SandboxFixture, sandboxFixture, stateOn, stepsOn } from './sandbox-fixture.ts';

let fixture: DashboardFixture;
let temporal: TestNamespace;
let browser: Browser;
let worker: Awaited<ReturnType<typeof startHarnessWorker>>;
beforeAll(async () => {
  [fixture, temporal, browser] = await Promise.all([
    startDashboardFixture(),
    createTestNamespace(),
    sharedChromium(),
  ]);
  worker = await startHarnessWorker(fixture.harness, temporal);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
  await temporal?.[Symbol.asyncDispose]();
});

const funds = () => createClient(FundsService, fixture.transport);
const tenantOf = ({ merchantId }: SandboxFixture) => ({ merchantId, environment: Environment.TEST });
const stateIs = (page: Page, state: string) =>
  page.locator('.badge + code', { hasText: state }).waitFor({ timeout: 40_000 });

it('shows changes made by workflows: execution, missing funds, and the reversed debit', async () => {
  const panel = await sandboxFixture(fixture);
  const started = await panel.step(await panel.openCase({ who: 'INSTANT' }), 'start');
  const { context, page } = await openWindow(browser, fixture.baseUrl, panel.visitor);
  await page.goto(started.path);
  await stateIs(page, 'FUNDING_REQUIRED');
  await panel.sell();
  await stateIs(page, 'PROCESSING');
  expect((await funds().getBalance(tenantOf(panel))).availableAmountMinor).toBe(0n);
  await page.getByRole('button', { name: 'The provider does not pay' }).click();
  await stateIs(page, 'FAILED');
  await eventually(async () =>
    expect((await funds().getBalance(tenantOf(panel))).availableAmountMinor).toBe(12_000n),
  );
  await context.close();
});

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

it('lets a deadline pass, and blocks the funds of a disputed sale', async () => {
  const panel = await sandboxFixture(fixture);
  const overdue = await panel.openCase({ asked_days_ago: '8' });
  const path = `${panel.home}/refunds/${idIn(overdue)}`;
  await eventually(async () => expect(stateOn(await panel.visitor.get(path))).toBe('SERVICE_REVIEW'));
  const sale = await panel.sell();
  await panel.visitor.submit(sale, '/open-dispute');
  await eventually(async () =>
    expect((await funds().getBalance(tenantOf(panel))).blockedAmountMinor).toBe(12_000n),
  );
});
