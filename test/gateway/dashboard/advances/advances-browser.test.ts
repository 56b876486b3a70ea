import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

/** A person who may request advances, whose merchant has much to advance. */
async function seller(): Promise<{ visitor: Visitor; home: string; approve(id: string): Promise<unknown> }> {
  const funds = fundsCaller(fixture.transport, newTenant());
  const visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.DEVELOPER });
  const sales = Array.from({ length: 12 }, (_, index) => index + 1);
  await Promise.all(sales.map((n) => funds.sell({ gross: BigInt(n * 123_457), installments: n })));
  await funds.sell({ gross: 8_007_199_000_000_000n, installments: 2 });
  const advances = createClient(AdvanceService, fixture.transport);
  const approve = (advanceRequestId: string) =>
    advances.approveAdvance({ ...funds.write(), advanceRequestId, reason: 'x'.repeat(300) });
  return { visitor, home: `/live/${funds.tenant.merchantId}/advances`, approve };
}

it('leads from an empty list to a request, on pages that fit and are accessible', async () => {
  const { visitor, home, approve } = await seller();
  const narrow = { width: 320, locale: 'pt-BR' };
  const { page, foreign, violations } = await openWindow(fixture.baseUrl, visitor, narrow);
  const check = async () => {
    expect(await accessibilityFaults(page)).toEqual([]);
    await expectToFit(page, [1280]);
  };
  await page.goto(home);
  await check();
  await page.locator(`a[href="${home}/new"]`).click();
  await check();
  await page.locator('#amount').fill('ten');
  await page.locator('main form button').click();
  await page.locator('#amount-fault').waitFor();
  await check();
  await page.locator('#amount').fill('');
  await page.locator('main form button').click();
  await page.locator('.quote').waitFor();
  await check();
  const quoted = await page.locator('input[name=quoted]').inputValue();
  await page.locator('#confirmed').fill('1,00');
  await page.locator('.quote button').click();
  await page.locator('#confirmed-fault').waitFor();
  await check();
  await page.locator('#confirmed').fill(`${quoted.slice(0, -2)},${quoted.slice(-2)}`);
  await page.locator('main form button').click();
  await page.waitForURL(/\/advances\/[0-9a-f-]{36}(\?|$)/);
  await check();
  await approve(new URL(page.url()).pathname.split('/').at(-1)!);
  await page.locator('.timeline .done >> nth=1').waitFor();
  await check();
  await page.goto(home);
  expect(await page.locator('tbody tr').count()).toBe(1);
  await check();
  // The browser itself logs the 422 of the refused form.
  const errors = violations.filter((text) => !text.includes('422'));
  expect([foreign, errors]).toEqual([[], []]);
});
