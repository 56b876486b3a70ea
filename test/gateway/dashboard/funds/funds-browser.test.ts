import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { monthShifted } from '../../../../gateway/dashboard/funds/months.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../../services/platform/civil-date.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { launchChromium } from '../../../support/chromium.ts';
import { newTenant } from '../../../support/harness.ts';
import { accessibilityFaults, openWindow } from '../chromium-fixture.ts';
import { type DashboardFixture, startDashboardFixture, type Visitor } from '../dashboard-fixture.ts';

let fixture: DashboardFixture;
let browser: Browser;
let visitor: Visitor;
let home: string;
let dueDate: string;
let dueMonth: string;
beforeAll(async () => {
  [fixture, browser] = await Promise.all([startDashboardFixture(), launchChromium()]);
  const funds = fundsCaller(fixture.transport, newTenant());
  visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.DEVELOPER });
  home = `/live/${funds.tenant.merchantId}/funds`;
  await funds.deduct(123_456n);
  for (let n = 1; n <= 12; n += 1) {
    await funds.sell({ gross: BigInt(n * 123_457), fees: BigInt(n * 4_000), installments: n });
  }
  const held = await funds.sell({ gross: 9_007_199_000_000_000n, installments: 2 });
  dueDate = held.installments[0]!.date;
  dueMonth = dueDate.slice(0, 7);
  await funds.block(held.saleId, undefined, BlockReason.REFUND_IN_PROGRESS);
  await funds.sell({ gross: 98_765n, instant: true });
});
afterAll(async () => {
  await browser.close();
  await fixture.close();
});

it.each([
  [1280, 'en'],
  [720, 'pt-BR'],
  [360, 'en'],
  [360, 'pt-BR'],
] as const)('fits and is accessible at %i px in %s', async (width, locale) => {
  const { context, page, foreign, violations } = await openWindow(browser, fixture.baseUrl, visitor, {
    width,
    locale,
  });
  const paths = [
    home,
    `${home}?month=${dueMonth}`,
    `${home}/projection`,
    `${home}/projection?months=24`,
    `${home}/days/${civilDateAt(new Date())}`,
    `${home}/days/${dueDate}`,
  ];
  for (const path of paths) {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    expect((await response!.body()).byteLength).toBeLessThan(100_000);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }
  expect([foreign, violations]).toEqual([[], []]);
  await context.close();
});

it('a month is a table of weeks on a wide screen, and a list of days on a narrow one', async () => {
  const layout = `(() => {
    const boxes = [...document.querySelectorAll('td.day')].map((cell) => cell.getBoundingClientRect());
    return new Set(boxes.map(({ left }) => Math.round(left))).size;
  })()`;
  for (const [width, columns] of [
    [1280, 7],
    [360, 1],
  ] as const) {
    const { context, page } = await openWindow(browser, fixture.baseUrl, visitor, { width });
    await page.goto(home);
    expect(await page.evaluate(layout)).toBe(columns);
    await context.close();
  }
});

it('the keyboard leads from a month to the releases of a day, without scripts', async () => {
  const { context, page } = await openWindow(browser, fixture.baseUrl, visitor, { javaScriptEnabled: false });
  await page.goto(`${home}?month=${monthShifted(dueMonth, -1)}`);
  await page.locator('a[rel=next]').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${home}?month=${dueMonth}`);
  await page.locator('table.month td.held a').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/days\//);
  expect(await page.locator('tbody tr', { hasText: 'refund in progress' }).count()).toBe(1);
  await context.close();
});

it.each([
  ['thousands', [1_337_701n, 13_105_599n]],
  ['hundreds of thousands', [30_000_000n, 30_000_000n]],
  ['millions', [7_000_000_000n, 900_000_000n]],
] as const)('wraps no amount of a merchant with %s of reais', async (_, [instant, byCard]) => {
  const funds = fundsCaller(fixture.transport, newTenant());
  const merchant = await fixture.signIn({ [funds.tenant.merchantId]: Role.DEVELOPER });
  await funds.sell({ gross: instant, instant: true });
  const { installments } = await funds.sell({ gross: byCard, installments: 12 });
  const held = await funds.sell({ gross: byCard, installments: 12 });
  await funds.block(held.saleId, undefined, BlockReason.REFUND_IN_PROGRESS);
  const path = `/live/${funds.tenant.merchantId}/funds`;
  const { context, page } = await openWindow(browser, fixture.baseUrl, merchant, { locale: 'pt-BR' });
  for (const each of [path, `${path}/projection`, `${path}/days/${installments[0]!.date}`]) {
    await page.goto(each);
    const broken = await page.evaluate(
      "[...document.querySelectorAll('data')].filter((amount) => amount.getClientRects().length > 1).map((amount) => amount.textContent)",
    );
    expect([each, broken]).toEqual([each, []]);
  }
  await context.close();
});
