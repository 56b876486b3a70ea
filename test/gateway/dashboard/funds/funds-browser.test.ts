import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../../services/platform/civil-date.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();
const funds = fundsCaller(fixture.transport, newTenant());
const visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.DEVELOPER });
const home = `/live/${funds.tenant.merchantId}/funds`;
await funds.deduct(123_456n);
const sales = Array.from({ length: 12 }, (_, index) => index + 1);
await Promise.all(
  sales.map((n) => funds.sell({ gross: BigInt(n * 123_457), fees: BigInt(n * 4_000), installments: n })),
);
const { saleId: heldSaleId, installments } = await funds.sell({
  gross: 9_007_199_000_000_000n,
  installments: 2,
});
const dueDate = installments[0]!.date;
await funds.block(heldSaleId, undefined, BlockReason.REFUND_IN_PROGRESS);
await funds.sell({ gross: 98_765n, instant: true });

it('fits windows of every width, and is accessible', async () => {
  // Portuguese has the longer words.
  const narrow = { width: 320, locale: 'pt-BR' };
  const { page, foreign, violations } = await openWindow(fixture.baseUrl, visitor, narrow);
  const paths = [
    home,
    `${home}?month=${dueDate.slice(0, 7)}`,
    `${home}/statement`,
    `${home}/projection`,
    `${home}/projection?months=24`,
    `${home}/days/${civilDateAt(new Date())}`,
    `${home}/days/${dueDate}`,
    `${home}/sales/${heldSaleId}`,
  ];
  for (const path of paths) {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    expect((await response!.body()).byteLength).toBeLessThan(100_000);
    expect(await accessibilityFaults(page)).toEqual([]);
    await expectToFit(page, [720, 1280]);
  }
  expect([foreign, violations]).toEqual([[], []]);
});

it('the reconciliation of a month fits windows of every width, and is accessible', async () => {
  const funds = fundsCaller(fixture.transport, newTenant());
  const merchant = await fixture.signIn({ [funds.tenant.merchantId]: Role.VIEWER });
  const sale = await funds.sell({ on: '2020-06-02', gross: 3_001_000_000n, fees: 310n, instant: true });
  await funds.debit(sale.saleId, 1_500n, sale.saleId, '2020-06-05');
  const narrow = { width: 320, locale: 'pt-BR' };
  const { page } = await openWindow(fixture.baseUrl, merchant, narrow);
  await page.goto(`/live/${funds.tenant.merchantId}/funds/reconcile?from=2020-06-01&to=2020-06-30`);
  expect(await page.locator('table').count()).toBeGreaterThan(2);
  // An opening balance has no count, and its card no line for one.
  await expect.poll(() => page.locator('td:empty:visible').count()).toBe(0);
  for (const width of [320, 720]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await accessibilityFaults(page)]).toEqual([width, []]);
  }
  await expectToFit(page, [320, 1280]);
});

it('can be read in high contrast, charts too, and marks the current section alone', async () => {
  const { page } = await openWindow(fixture.baseUrl, visitor);
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await page.goto(`${home}/projection`);
  const styles = `(() => {
    const { color, backgroundColor } = getComputedStyle(document.documentElement);
    const texts = [...document.querySelectorAll('.chart text')].map((text) => getComputedStyle(text).fill === color);
    const marked = [...document.querySelectorAll('.sections a')].filter((link) => getComputedStyle(link).borderBottomColor !== backgroundColor);
    return [texts.length > 0 && texts.every(Boolean), marked.map((link) => link.ariaCurrent)];
  })()`;
  expect(await page.evaluate(styles)).toEqual([true, ['page']]);
});

it('puts every part of a cell beside its label on a narrow screen', async () => {
  const { page } = await openWindow(fixture.baseUrl, visitor, { width: 390 });
  const beforeLabelEnds = `[...document.querySelectorAll('td[data-label]')].flatMap((cell) => {
    const end = cell.getBoundingClientRect().left + parseFloat(getComputedStyle(cell).gridTemplateColumns);
    return [...cell.children].filter((part) => part.getBoundingClientRect().left < end).map((part) => part.textContent);
  })`;
  for (const path of [`${home}/sales/${heldSaleId}`, `${home}/days/${dueDate}`, `${home}/statement`]) {
    await page.goto(path);
    expect(await page.locator('td .reasons', { hasText: 'refund in progress' }).count()).toBeGreaterThan(0);
    expect(await page.evaluate(beforeLabelEnds)).toEqual([]);
  }
});

it('leaves room between buttons that take several lines on a narrow screen', async () => {
  const { page } = await openWindow(fixture.baseUrl, visitor, { width: 390 });
  const rows = `[...new Set([...document.querySelectorAll('main a.button')].map((button) => {
    const { top, bottom } = button.getBoundingClientRect();
    return top + ' ' + bottom;
  }))].map((row) => row.split(' ').map(Number))`;
  await page.goto(home);
  const [first, second] = await page.evaluate<[number, number][]>(rows);
  expect(second![0] - first![1]).toBeGreaterThanOrEqual(8);
});

it('a month is a table of weeks on a wide screen, and a list of days on a narrow one', async () => {
  const layout = `(() => {
    const boxes = [...document.querySelectorAll('td.day')].map((cell) => cell.getBoundingClientRect());
    return new Set(boxes.map(({ left }) => Math.round(left))).size;
  })()`;
  const { page } = await openWindow(fixture.baseUrl, visitor);
  await page.goto(home);
  for (const [width, columns] of [
    [1280, 7],
    [320, 1],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(layout)).toBe(columns);
  }
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
  const { page } = await openWindow(fixture.baseUrl, merchant, { locale: 'pt-BR' });
  for (const each of [path, `${path}/projection`, `${path}/days/${installments[0]!.date}`]) {
    await page.goto(each);
    const broken = await page.evaluate(
      "[...document.querySelectorAll('data')].filter((amount) => amount.getClientRects().length > 1).map((amount) => amount.textContent)",
    );
    expect([each, broken]).toEqual([each, []]);
  }
});
