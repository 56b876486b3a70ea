import { createClient } from '@connectrpc/connect';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { launchChromium } from '../../../support/chromium.ts';
import { newTenant } from '../../../support/harness.ts';
import { accessibilityFaults, openWindow } from '../chromium-fixture.ts';
import { type DashboardFixture, startDashboardFixture, type Visitor } from '../dashboard-fixture.ts';

let fixture: DashboardFixture;
let browser: Browser;
beforeAll(async () => {
  [fixture, browser] = await Promise.all([startDashboardFixture(), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await fixture.close();
});

/** Somebody who may request, whose merchant has much to advance. */
async function seller(): Promise<{ visitor: Visitor; home: string; approve(id: string): Promise<unknown> }> {
  const funds = fundsCaller(fixture.transport, newTenant());
  const visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.DEVELOPER });
  for (let n = 1; n <= 12; n += 1) await funds.sell({ gross: BigInt(n * 123_457), installments: n });
  await funds.sell({ gross: 8_007_199_000_000_000n, installments: 2 });
  const advances = createClient(AdvanceService, fixture.transport);
  const approve = (advanceRequestId: string) =>
    advances.approveAdvance({ ...funds.write(), advanceRequestId, reason: 'x'.repeat(300) });
  return { visitor, home: `/live/${funds.tenant.merchantId}/advances`, approve };
}

it.each([
  [1280, 'en'],
  [360, 'pt-BR'],
] as const)(
  'from an empty list to a request at %i px in %s, on pages that fit and are accessible',
  async (width, locale) => {
    const { visitor, home, approve } = await seller();
    const { context, page, foreign, violations } = await openWindow(browser, fixture.baseUrl, visitor, {
      width,
      locale,
    });
    const check = async () => {
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
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
    await page.locator('.quote button').click();
    await page.waitForURL(/\/advances\/[0-9a-f-]{36}\?notice=requested/);
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
    await context.close();
  },
);
