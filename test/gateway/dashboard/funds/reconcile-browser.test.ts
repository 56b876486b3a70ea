import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createClient } from '@connectrpc/connect';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockOutcome, BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { addDays } from '../../../../services/platform/civil-date.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { sharedChromium } from '../../../support/chromium.ts';
import { newTenant } from '../../../support/harness.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { type SharedDashboard, sharedDashboard } from '../dashboard-fixture.ts';
import { minorOf, readCsv, sumOf } from '../exports/read-csv.ts';

const JUNE = ['2020-06-01', '2020-06-30'] as const;
const TOTALS = ['available', 'scheduled', 'blocked', 'total'] as const;

let fixture: SharedDashboard;
let browser: Browser;
beforeAll(async () => {
  [fixture, browser] = await Promise.all([sharedDashboard(), sharedChromium()]);
});

/** A merchant with two hundred sales, refunds, a dispute, a debt, an advance and releases, most of them in June. */
async function merchantWithJune() {
  const funds = fundsCaller(fixture.transport, newTenant());
  const { client, tenant, write } = funds;
  const sold: string[] = [];
  for (let n = 0; n < 200; n += 1) {
    const on = addDays('2020-05-20', Math.floor(n / 5));
    const gross = BigInt(1_000 + ((n * 7_919) % 90_001));
    const terms = n % 2 ? { instant: true } : { installments: (n % 12) + 1 };
    const { saleId } = await funds.sell({
      on,
      gross,
      fees: gross / 33n,
      ...terms,
      sold: { orderNumber: `R-${n}` },
    });
    sold.push(saleId);
  }
  const [refund, reversed, lost] = [randomUUID(), randomUUID(), randomUUID()];
  await funds.block(sold[61]!, refund, BlockReason.REFUND_IN_PROGRESS, '2020-06-10', 500n);
  await funds.debit(refund, 500n, sold[61], '2020-06-11');
  await funds.debit(reversed, 777n, sold[63], '2020-06-12');
  await funds.reverse(reversed, '2020-06-13');
  await funds.block(sold[65]!, lost, BlockReason.HOLD_OR_DISPUTE, '2020-06-14');
  await funds.unblock(sold[65]!, lost, BlockOutcome.CONSUMED, BlockReason.HOLD_OR_DISPUTE, '2020-06-20');
  await funds.deduct(12_345n, sold[60], '2020-06-21');
  const advances = createClient(AdvanceService, fixture.transport);
  const { quote } = await advances.quoteAdvance({ ...write('2020-06-22'), maxAmountMinor: 60_000n });
  const request = await advances.requestAdvance({ ...write('2020-06-22'), quoteId: quote!.id });
  const { id: advanceRequestId } = request.advanceRequest!;
  await advances.approveAdvance({ ...write('2020-06-22'), advanceRequestId });
  await advances.releaseAdvance({ ...write('2020-06-22'), advanceRequestId });
  for (let more = true; more; )
    more = (await client.releaseDueFunds({ ...tenant, asOf: '2020-06-30' })).hasMore;
  const visitor = await fixture.signIn({ [tenant.merchantId]: Role.VIEWER });
  return { visitor, advanceRequestId, refund, home: `/live/${tenant.merchantId}/funds` };
}

/** The amounts of a row of a table on the page, in centavos. */
async function amountsOf(page: Page, section: string, row: string): Promise<bigint[]> {
  const cells = page.locator(`section[aria-labelledby=${section}] tr`, { hasText: row }).locator('data');
  return (await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute('value')!))).map(BigInt);
}

async function download(page: Page, section: string) {
  const begun = page.waitForEvent('download');
  await page.locator(`section[aria-labelledby=${section}] .downloads a`).first().click();
  const file = await begun;
  return { name: file.suggestedFilename(), lines: readCsv(await readFile(await file.path(), 'utf8')) };
}

it('a finance person reconciles a month to the cent with the files, without scripts', async () => {
  const { visitor, home, refund, advanceRequestId } = await merchantWithJune();
  const { context, page, foreign, violations } = await openWindow(browser, fixture.baseUrl, visitor, {
    javaScriptEnabled: false,
    locale: 'pt-BR',
  });
  await page.goto(home);
  await page.getByRole('link', { name: 'Conciliar' }).click();
  await page.locator('#from').fill(JUNE[0]);
  await page.locator('#to').fill(JUNE[1]);
  await page.getByRole('button', { name: 'Mostrar' }).click();
  const statement = await download(page, 'statement');
  const sales = await download(page, 'sales');
  const releases = await download(page, 'releases');
  expect(statement.name).toBe(`statement-${JUNE.join('-')}.csv`);

  const { lines } = statement;
  const [opening, closing] = [lines[0]!, lines.at(-1)!];
  const moved = TOTALS.map((part) => sumOf(lines, `${part}_change`));
  const of = (line: Record<string, string>) => TOTALS.map((part) => minorOf(line[`${part}_balance`]!));
  expect(of(opening).map((minor, index) => minor + moved[index]!)).toEqual(of(closing));
  expect(await amountsOf(page, 'statement', 'Saldo inicial')).toEqual(of(opening));
  expect(await amountsOf(page, 'statement', 'Saldo final')).toEqual(of(closing));
  const sumOfKind = (kind: string) =>
    sumOf(
      lines.filter((line) => line.kind === kind),
      'total_change',
    );
  expect(sumOfKind('SALE')).toBe(sumOf(sales.lines, 'net_amount'));
  expect((await amountsOf(page, 'sales', ''))[2]).toBe(sumOf(sales.lines, 'net_amount'));
  expect((await amountsOf(page, 'releases', ''))[2]).toBe(sumOf(releases.lines, 'net_amount'));
  expect([sumOfKind('REFUND'), sumOfKind('REFUND_REVERSAL'), sumOfKind('DEDUCTION')]).toEqual([
    -1_277n,
    777n,
    -12_345n,
  ]);
  expect(lines.find(({ kind, source_id }) => kind === 'REFUND' && source_id === refund)).toBeDefined();
  expect(lines.filter(({ kind }) => kind === 'ADVANCE').map(({ source_id }) => source_id)).toEqual([
    advanceRequestId,
  ]);

  await page.locator('section[aria-labelledby=statement] h2 a').click();
  let rows = await page.locator('section[aria-labelledby=movements] tbody tr').count();
  while (await page.locator('a[rel=next]').count()) {
    await page.locator('a[rel=next]').click();
    rows += await page.locator('section[aria-labelledby=movements] tbody tr').count();
  }
  expect(rows).toBe(lines.filter(({ line }) => line === 'item').length);
  expect([foreign, violations]).toEqual([[], []]);
  await context.close();
});

it('fits a phone, and is accessible', async () => {
  const { visitor, home } = await merchantWithJune();
  const narrow = { width: 360, locale: 'pt-BR' };
  const { context, page, foreign, violations } = await openWindow(browser, fixture.baseUrl, visitor, narrow);
  const query = `from=${JUNE[0]}&to=${JUNE[1]}`;
  for (const path of [
    `${home}/statement?${query}`,
    `${home}/reconcile?${query}`,
    home.replace('/funds', ''),
  ]) {
    await page.goto(path);
    expect(await accessibilityFaults(page)).toEqual([]);
    await expectToFit(page, [720, 1280]);
  }
  expect([foreign, violations]).toEqual([[], []]);
  await context.close();
});
