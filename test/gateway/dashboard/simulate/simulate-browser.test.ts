import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import {
  PriceInterval,
  PriceType,
  ProductService,
  ProductType,
} from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  MerchantDecisionKind,
  RefundCaseService,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { sharedChromium } from '../../../support/chromium.ts';
import { newKey } from '../../../support/harness.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { idIn, type SandboxFixture, sandboxFixture } from './sandbox-fixture.ts';

const LONG = 'Wort'.repeat(60);

const [fixture, _browser] = await Promise.all([sharedDashboard(), sharedChromium()]);

/** A product whose name is longer than any line. */
async function productOf({ merchantId }: SandboxFixture): Promise<string> {
  const products = createClient(ProductService, fixture.transport);
  const write = () => ({ merchantId, environment: Environment.TEST, idempotencyKey: newKey() });
  const kind = { productType: ProductType.SUBSCRIPTION, refundWindowDays: 14 };
  const { product } = await products.createProduct({ ...write(), ...kind, name: LONG.slice(0, 200) });
  const productId = product!.id;
  const terms = {
    type: PriceType.RECURRING,
    interval: PriceInterval.MONTH,
    intervalCount: 1,
    maxInstallments: 12,
  };
  await products.createPrice({ ...write(), productId, amountMinor: 9_007_199_254_740_991n, ...terms });
  await products.activateProduct({ ...write(), productId });
  return productId;
}

/** Every page of these features, with some content. */
async function pathsOf(panel: SandboxFixture): Promise<string[]> {
  const { home, openCase, sell, step, visitor } = panel;
  const productId = await productOf(panel);
  const waiting = await openCase({
    reason: LONG,
    amount: '90,071,992,547,409.91',
    paid: '90,071,992,547,409.91',
  });
  const blocked = await step(await openCase({ asked_days_ago: '6' }), 'add-blocker');
  const disputed = await step(blocked, 'open-dispute');
  const sale = await sell({ sale_product: productId });
  const disputedSale = await visitor.submit(sale, '/open-dispute');
  const advance = await visitor.submit(`${home}/simulate`, '/simulate/advances');
  const refunds = [
    '',
    '?status=',
    '?status=REJECTED',
    '?payment=12',
    `/${idIn(waiting)}`,
    `/${idIn(disputed)}`,
  ];
  return [
    ...refunds.map((end) => `${home}/refunds${end}`),
    `${home}/products`,
    `${home}/products/${productId}`,
    `${home}/simulate`,
    `${home}/simulate/events`,
    disputed.path,
    sale.path,
    disputedSale.path,
    advance.path,
  ];
}

it('pages are accessible and do not overflow', async () => {
  const panel = await sandboxFixture(fixture);
  const narrow = { width: 320, locale: 'pt-BR' };
  const { page, foreign, violations } = await openWindow(fixture.baseUrl, panel.visitor, narrow);
  for (const path of await pathsOf(panel)) {
    await page.goto(path);
    expect([path, await accessibilityFaults(page)]).toEqual([path, []]);
    await expectToFit(page, [1280]);
  }
  // The browser itself logs the 422 of the mistaken filter.
  expect([foreign, violations.filter((text) => !text.includes('422'))]).toEqual([[], []]);
});

it('leads by keyboard and pointer from a sale to a paid refund, and shows each change live', async () => {
  const panel = await sandboxFixture(fixture);
  const { page } = await openWindow(fixture.baseUrl, panel.visitor);
  await page.goto(`${panel.home}/simulate`);
  await page.getByRole('button', { name: 'Create sale' }).press('Enter');
  await page.waitForURL(/\/simulate\/sales\//);
  // What was done is announced, and Tab goes on from there.
  await page.locator(':focus', { hasText: 'Sale recorded.' }).waitFor();
  await page.getByLabel('Requested by').selectOption('MERCHANT');
  await page.getByRole('button', { name: 'Open case' }).click();
  await page.waitForURL(/\/simulate\/refund-cases\/[0-9a-f-]{36}\?/);
  await page.getByText('refund.approved.v1').waitFor();
  for (const step of ['Start the execution', 'Complete the execution', 'The provider pays']) {
    await page.getByRole('button', { name: step }).click();
    await page.getByText(`${step}: done.`).waitFor();
  }
  await stateIs(page, 'SUCCEEDED');
});

it('shows a decision made elsewhere without a reload, and no longer offers it', async () => {
  const panel = await sandboxFixture(fixture);
  const refundCaseId = idIn(await panel.openCase());
  const { page } = await openWindow(fixture.baseUrl, panel.visitor);
  await page.goto(`${panel.home}/refunds/${refundCaseId}`);
  await page.getByText('Approve this refund').waitFor();
  const tenant = { merchantId: panel.merchantId, environment: Environment.TEST };
  const decided = { refundCaseId, decision: MerchantDecisionKind.APPROVED, idempotencyKey: randomUUID() };
  await createClient(RefundCaseService, fixture.transport).decideRefundCase({ ...tenant, ...decided });
  await stateIs(page, 'APPROVED_FOR_EXECUTION');
  await page.getByText('Approve this refund').waitFor({ state: 'detached' });
});

const stateIs = (page: Page, state: string) => page.locator('.badge + code', { hasText: state }).waitFor();
