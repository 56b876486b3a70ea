import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { DisputeOutcome, DisputeReason } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { newTenant } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';
import { minorOf, readCsv, sumOf } from '../exports/read-csv.ts';
import { textOf } from '../page-text.ts';

const JUNE = 'from=2020-06-01&to=2020-06-30';

const fixture = await sharedDashboard();

/** A merchant with a June of sales, a refund, a deduction and a dispute. */
async function merchantWithJune() {
  const tenant = newTenant();
  const funds = fundsCaller(fixture.transport, tenant);
  const { merchantId } = tenant;
  await funds.sell({ on: '2020-05-20', gross: 5_000n, instant: true });
  const sold = { orderNumber: '=HYPERLINK("https://evil.example")', customerReference: 'cliente nº 7' };
  const card = await funds.sell({ on: '2020-06-02', gross: 30_010n, fees: 310n, installments: 3, sold });
  const pix = await funds.sell({ on: '2020-06-03', gross: 12_345n, fees: 45n, instant: true });
  await funds.block(pix.saleId, undefined, BlockReason.HOLD_OR_DISPUTE, '2020-06-04', 2_000n);
  await funds.debit(randomUUID(), 1_500n, pix.saleId, '2020-06-05');
  await funds.deduct(700n, card.saleId, '2020-06-06');
  const visitor = await fixture.signIn({ [merchantId]: Role.VIEWER });
  return { funds, tenant, visitor, merchantId, home: `/live/${merchantId}/funds` };
}

const tableOf = ({ document }: SeenPage, index: number) =>
  document
    .querySelectorAll('table')
    [index]!.querySelectorAll('tbody tr')
    .map((row) => row.querySelectorAll('td').map(textOf));

it('shows the statement of a range, whose columns add up, with links to the cause of each movement', async () => {
  const { visitor, home } = await merchantWithJune();
  const page = await visitor.get(`${home}/statement?${JUNE}`);
  expect(tableOf(page, 0)).toEqual([
    ['Opening balance', '', 'R$50.00', 'R$0.00', 'R$0.00', 'R$50.00'],
    ['Sale', '2', 'R$123.00', 'R$297.00', 'R$0.00', 'R$420.00'],
    ['Block', '1', '-R$20.00', 'R$0.00', 'R$20.00', 'R$0.00'],
    ['Deduction', '1', 'R$0.00', '-R$7.00', 'R$0.00', '-R$7.00'],
    ['Refund', '1', '-R$15.00', 'R$0.00', 'R$0.00', '-R$15.00'],
    ['Closing balance', '', 'R$138.00', 'R$290.00', 'R$20.00', 'R$448.00'],
  ]);
  const movements = tableOf(page, 1);
  expect(movements.map((row) => [row[1], row[5]])).toEqual([
    ['Sale order =HYPERLINK(&quot;https://evil.example&quot;)', 'R$50.00'],
    ['Sale view sale', 'R$173.00'],
    ['Block hold by our team view sale', 'R$153.00'],
    ['Refund view sale', 'R$138.00'],
    ['Deduction order =HYPERLINK(&quot;https://evil.example&quot;)', 'R$138.00'],
  ]);
  expect((await visitor.get(`${home}/statement?from=2020-06-30&to=2020-06-01`)).status).toBe(422);
  expect((await visitor.get(`${home}/statement.csv?from=nonsense`)).status).toBe(400);
});

it('says of a period that has not begun that its balances are those of now', async () => {
  const merchantId = randomUUID();
  const visitor = await fixture.signIn({ [merchantId]: Role.VIEWER });
  const noticeOf = async (page: string) =>
    textOf((await visitor.get(page)).document.querySelector('.notice'));
  const ahead = 'from=2999-06-01&to=2999-06-30';
  for (const page of ['statement', 'reconcile']) {
    const path = `/live/${merchantId}/funds/${page}`;
    expect(await noticeOf(`${path}?${ahead}`)).toContain('the balances are those of now');
    expect(await noticeOf(path)).toBe('');
  }
});

it('links holds, deductions and debts to their dispute, and a dispute to its sale', async () => {
  const { funds, tenant, visitor, home, merchantId } = await merchantWithJune();
  const { refunds, write } = refundsOf(fixture.harness, 'inProcess', tenant);
  const { saleId } = await funds.sell({ on: '2020-07-01', gross: 8_000n, instant: true });
  const links = (page: SeenPage, selector: string) =>
    page.document
      .querySelectorAll(`${selector} a`)
      .map((link) => [textOf(link), link.getAttribute('href')!.replace(`/live/${merchantId}`, '')]);
  const open = async (terms: object) => {
    const ids = { disputeId: randomUUID(), paymentIntentId: randomUUID() };
    const opening = { ...write(), ...ids, reason: DisputeReason.DUPLICATE, ...terms };
    return (await refunds.openDispute(opening)).dispute!.id;
  };
  const ofSale = await open({ saleId, amountMinor: 3_000n });
  await funds.block(saleId, ofSale, BlockReason.HOLD_OR_DISPUTE, '2020-07-02', 3_000n);
  const review = randomUUID();
  await funds.block(saleId, review, BlockReason.KYC_PENDING, '2020-07-02', 1_000n);
  const sale = await visitor.get(`${home}/sales/${saleId}`);
  const [rest, ...held] = tableOf(sale, 0);
  expect([rest!.slice(2, 4), ...held.map((row) => [row[2], row.at(-1)]).sort()]).toEqual([
    ['Released', 'R$40.00'],
    ['Blocked dispute', 'R$30.00'],
    ['Blocked verification pending', 'R$10.00'],
  ]);
  expect(links(sale, 'td .reasons')).toEqual([['dispute', `/disputes/${ofSale}`]]);
  const other = await open({ amountMinor: 90_000n });
  await funds.client.applyDeduction({ ...funds.write('2020-07-03'), sourceId: other, amountMinor: 90_000n });
  const statement = await visitor.get(`${home}/statement?from=2020-07-01&to=2020-07-31`);
  const seen = links(statement, '#movements ~ .table tbody');
  expect(seen).toContainEqual(['Block', `/disputes/${ofSale}`]);
  expect(seen).toContainEqual(['Deduction', `/disputes/${other}`]);
  expect(links(await visitor.get(home), 'section.debts')).toEqual([
    ['Dispute: duplicate charge', `/disputes/${other}`],
  ]);
  const dispute = async (id: string) => visitor.get(`/live/${merchantId}/disputes/${id}`);
  expect((await dispute(ofSale)).text).toContain('Blocked until the dispute is closed');
  expect(links(await dispute(ofSale), 'main dl')).toContainEqual([saleId, `/funds/sales/${saleId}`]);
  expect((await dispute(other)).text).toContain('Not blocked: the dispute names no sale.');
  await refunds.closeDispute({ ...write(), disputeId: other, outcome: DisputeOutcome.WON });
  expect((await dispute(other)).text).toContain('Nothing is deducted from your receivables.');
});

it('shows on the page of a lost dispute what was deducted and what became a debt, with links to both', async () => {
  const { funds, tenant, visitor, merchantId } = await merchantWithJune();
  const { refunds, write } = refundsOf(fixture.harness, 'inProcess', tenant);
  const opening = { disputeId: randomUUID(), paymentIntentId: randomUUID(), amountMinor: 90_000n };
  const { id: sourceId } = (await refunds.openDispute({ ...write(), ...opening })).dispute!;
  const live = `/live/${merchantId}`;
  const card = async () => {
    const { document } = await visitor.get(`${live}/disputes/${sourceId}`);
    return document.querySelectorAll('section.card').find((each) => each.text.startsWith('Deducted'));
  };
  expect(await card()).toBeUndefined();
  await refunds.closeDispute({ ...write(), disputeId: sourceId, outcome: DisputeOutcome.LOST });
  expect(textOf((await card())!)).toMatch(/not been deducted .* yet/);
  const { debtAmountMinor } = await funds.client.applyDeduction({
    ...funds.write('2020-07-03'),
    sourceId,
    amountMinor: 90_000n,
  });
  const debt = `R$${(Number(debtAmountMinor) / 100).toFixed(2)}`;
  const shown = (await card())!;
  expect(textOf(shown)).toContain('R$900.00 View in the statement');
  expect(textOf(shown)).toContain(`did not cover ${debt}, which became a debt: ${debt} outstanding`);
  const [statement, debts] = shown.querySelectorAll('a').map((link) => link.getAttribute('href')!);
  const row = `tbody a[href="${live}/disputes/${sourceId}"]`;
  expect(textOf((await visitor.get(statement!)).document.querySelector(row))).toBe('Deduction');
  const list = (await visitor.get(debts!.replace('#debts', ''))).document;
  expect(textOf(list.querySelector(`#debts ~ * ${row}`)!.closest('tr'))).toContain(debt);
  await funds.sell({ on: '2020-07-04', gross: 90_000n });
  expect(textOf((await card())!)).toContain('paid in full');
});

it('shows why an amount was deducted on the statement, in its file, on the sale and with the debt', async () => {
  const { funds, visitor, home } = await merchantWithJune();
  const { saleId } = await funds.sell({ on: '2020-07-01', gross: 100n, instant: true });
  const reason = '=1+1 <img src=x onerror=alert(1)> tarifa';
  const deduction = { sourceId: randomUUID(), saleId, amountMinor: 90_000n, reason };
  await funds.client.applyDeduction({ ...funds.write('2020-07-02'), ...deduction });
  const july = 'from=2020-07-01&to=2020-07-10';
  for (const path of [`${home}/statement?${july}`, `${home}/sales/${saleId}`, home]) {
    const { document } = await visitor.get(path);
    expect(document.querySelectorAll('td .reasons.words').map(({ text }) => text)).toEqual([reason]);
    expect(document.querySelectorAll('img[onerror]')).toEqual([]);
  }
  const rows = readCsv((await visitor.get(`${home}/statement.csv?${july}&format=intl`)).text, 'intl');
  expect(rows.filter((row) => row.reason !== '').map((row) => [row.kind, row.reason])).toEqual([
    ['DEDUCTION', `'${reason}`],
  ]);
});

it('exports files with the totals of the pages, in either format, and audits each download', async () => {
  const { visitor, home, merchantId } = await merchantWithJune();
  const live = home.replace('/funds', '');
  const file = async (path: string, format: 'br' | 'intl' = 'br') => {
    const response = await visitor.get(`${path}&format=${format}`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    return readCsv(response.text, format);
  };
  const statement = await file(`${home}/statement.csv?${JUNE}`);
  const [opening, closing] = [statement[0]!, statement.at(-1)!];
  expect([opening.line, statement.at(-2)!.line, closing.line]).toEqual(['opening', 'total', 'closing']);
  expect([opening.total_balance, closing.total_balance]).toEqual(['50,00', '448,00']);
  for (const part of ['available', 'scheduled', 'blocked', 'total']) {
    const moved = sumOf(statement, `${part}_change`);
    expect(minorOf(statement.at(-2)![`${part}_change`]!)).toBe(moved);
    expect(minorOf(opening[`${part}_balance`]!) + moved).toBe(minorOf(closing[`${part}_balance`]!));
  }
  const sales = await file(`${home}/sales.csv?${JUNE}`, 'intl');
  expect(sales.map(({ line, net_amount }) => [line, net_amount])).toEqual([
    ['item', '123.00'],
    ['item', '297.00'],
    ['total', '420.00'],
  ]);
  expect(sales[1]).toMatchObject({
    order_number: `'=HYPERLINK("https://evil.example")`,
    customer_reference: 'cliente nº 7',
    captured_on: '2020-06-02',
  });
  const sold = statement.filter(({ kind }) => kind === 'SALE');
  expect(sold.reduce((sum, row) => sum + minorOf(row.total_change!), 0n)).toBe(sumOf(sales, 'net_amount'));
  const releases = await file(`${home}/releases.csv?from=2020-06-01&to=2020-12-31`);
  const reconcile = await visitor.get(`${home}/reconcile?${JUNE}`);
  const year = await visitor.get(`${home}/reconcile?from=2020-06-01&to=2020-12-31`);
  expect(tableOf(reconcile, 1)).toEqual([
    ['2', 'R$423.55', 'R$3.55', 'R$420.00', 'R$22.00', 'R$0.00', 'R$20.00', 'R$88.00', 'R$290.00'],
  ]);
  const { net_amount, deducted_amount, scheduled_amount } = releases.at(-1)!;
  expect(tableOf(year, 2)[0]!.filter((_, index) => [3, 4, 8].includes(index))).toEqual(
    [net_amount, deducted_amount, scheduled_amount].map((amount) => `R$${amount!.replace(',', '.')}`),
  );
  const day = await file(`${home}/days/2020-07-02/sales.csv?`);
  expect(day.at(-1)).toMatchObject({ line: 'total', net_amount: '99,00', deducted_amount: '7,00' });
  for (const list of ['refunds', 'disputes', 'advances'])
    expect(await file(`${live}/${list}.csv?`)).toHaveLength(1);
  const audited = `select distinct split_part(action, '.', 5) as action from platform.audit_entry
    where merchant_id = $1 and account_id = $2 order by 1`;
  expect(await sqlOf(fixture.harness, audited, [merchantId, visitor.accountId])).toEqual(
    ['AdvanceRequests', 'Disputes', 'FundsReleases', 'Movements', 'RefundCases', 'ReleaseSales', 'Sales'].map(
      (name) => ({ action: `Export${name}` }),
    ),
  );
});

it('says that other files are still being downloaded when too many are', async () => {
  const { funds, tenant, visitor, home } = await merchantWithJune();
  const open = Array.from({ length: 2 }, () => funds.client.exportMovements(tenant)[Symbol.asyncIterator]());
  for (const stream of open) await stream.next();
  const refused = await visitor.get(`${home}/sales.csv`);
  expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('still being downloaded')]);
  for (const stream of open) await stream.return?.();
});
