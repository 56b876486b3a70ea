import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { copyRows } from '../../../support/copy-rows.ts';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { seedMerchant } from '../../seed-merchant.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';

const fixture = await sharedDashboard();

async function newMerchant() {
  const funds = fundsCaller(fixture.transport, newTenant());
  const { merchantId, environment } = funds.tenant;
  const visitor = await fixture.signIn({ [merchantId]: Role.VIEWER });
  const seed = seedMerchant(fixture.transport, merchantId, environment);
  return { funds, visitor, seed, home: `/live/${merchantId}/funds` };
}

const cells = ({ document }: SeenPage) =>
  document.querySelectorAll('tbody tr').map((row) => row.querySelectorAll('td').map(textOf));

const cards = ({ document }: SeenPage) => document.querySelectorAll('.card').map(textOf);

/** Narrow screens collapse the form. */
const isFilterFormOpen = ({ document }: SeenPage) =>
  document.querySelector('form.filters')!.closest('details')!.hasAttribute('open');

it('links a day and its releases to the sales behind them, and a sale to its days', async () => {
  const { funds, visitor, home, seed } = await newMerchant();
  const productId = await seed.product();
  const on = '2020-06-20';
  const sold = { orderNumber: 'R-1', orderId: randomUUID(), productId, customerReference: 'customer 7' };
  const { saleId } = await funds.sell({ on, gross: 40_000n, fees: 1_000n, installments: 4, sold });
  const other = await funds.sell({ on, gross: 10_000n });
  await funds.block(other.saleId, undefined, BlockReason.KYC_PENDING, on, 4_000n);
  const day = await visitor.get(`${home}/days/2020-07-20`);
  const toSales = day.document.querySelectorAll('td a').map((link) => link.getAttribute('href')!);
  const [blocked, scheduled] = [await visitor.get(toSales[0]!), await visitor.get(toSales[1]!)];
  const sale = ['1 of 1', 'R$40.00', 'R$0.00', 'R$40.00', 'R$0.00', 'R$0.00', 'R$40.00'];
  expect(cells(blocked)).toEqual([
    [other.saleId, expect.any(String), ...sale, 'Blocked verification pending'],
  ]);
  expect(cards(blocked)).toEqual(['Blocked R$40.00']);
  expect(cards(scheduled)).toEqual(['Scheduled R$157.50']);
  expect(cells(scheduled).map((row) => [row[2], row[8], row[9]])).toContainEqual([
    '1 of 4',
    'R$97.50',
    'Scheduled',
  ]);
  const all = day.document.querySelector(`a[href="${home}/days/2020-07-20/sales"]`);
  const ofDay = await visitor.get(all!.getAttribute('href')!);
  expect(cells(ofDay).map((row) => row[9])).toContain('Blocked verification pending Scheduled');
  expect(cards(ofDay)).toEqual(['Scheduled R$157.50', 'Blocked R$40.00']);

  const link = ofDay.document.querySelectorAll('td a').find(({ text }) => text === 'R-1')!;
  const page = await visitor.get(link.getAttribute('href')!);
  expect(link.getAttribute('href')).toBe(`${home}/sales/${saleId}`);
  const text = textOf(page.document.querySelector('main'));
  for (const shown of [saleId, 'R-1', sold.orderId, 'Course', 'customer 7', 'R$390.00', 'Card']) {
    expect(text).toContain(shown);
  }
  expect(
    cells(page)
      .slice(0, 4)
      .map((row) => row.slice(0, 2)),
  ).toEqual([
    ['1 of 4', 'Jul 20, 2020'],
    ['2 of 4', 'Aug 19, 2020'],
    ['3 of 4', 'Sep 18, 2020'],
    ['4 of 4', 'Oct 19, 2020'],
  ]);
  expect(page.document.querySelector('td a')!.getAttribute('href')).toBe(`${home}/days/2020-07-20`);
  expect(cells(page).slice(4)).toEqual([[expect.any(String), 'Sale', 'R$0.00', 'R$390.00', 'R$0.00']]);
  const reading = await visitor.reading('pt-BR').get(`${home}/sales/${other.saleId}`);
  expect(textOf(reading.document.querySelector('dl'))).toContain('Situação Bloqueada');
  expect((await visitor.get(`${home}/sales/${randomUUID()}`)).status).toBe(404);
});

it('names the order, product and customer in every row of a sale, only for its own merchant', async () => {
  const { funds, visitor, seed, home } = await newMerchant();
  const stranger = await newMerchant();
  const productId = await seed.product();
  const sold = { orderNumber: 'R-7', productId, customerReference: 'customer 7' };
  const { saleId } = await funds.sell({ on: '2020-06-20', gross: 40_000n, installments: 1, sold });
  const [own, foreign] = [await seed.refundCase({ saleId }), await stranger.seed.refundCase({ saleId })];
  const refunds = createClient(RefundCaseService, fixture.transport);
  const dispute = { disputeId: randomUUID(), paymentIntentId: own.paymentIntentId, saleId };
  await refunds.openDispute({ ...newWrite(funds.tenant), ...dispute });
  const live = home.replace('/funds', '');
  for (const path of [
    `${home}/sales`,
    `${home}/days/2020-07-20/sales`,
    `${live}/refunds?status=`,
    `${live}/disputes`,
  ]) {
    expect(cells(await visitor.get(path))[0]).toContain('R-7 Course · customer 7');
  }
  const page = await visitor.get(`${live}/refunds/${own.id}`);
  expect(textOf(page.document.querySelector('main'))).toContain('Course · customer 7');
  await funds.block(saleId, dispute.disputeId, undefined, '2020-06-21', 1_000n);
  await funds.deduct(500n, saleId, '2020-06-22');
  const sale = await visitor.get(`${home}/sales/${saleId}`);
  const moved = cells(sale).filter((row) => row[2]?.startsWith('R$') && row.length === 5);
  expect(moved.map((row) => row.slice(1))).toEqual([
    ['Sale', 'R$0.00', 'R$400.00', 'R$0.00'],
    ['Block dispute', 'R$0.00', '-R$10.00', 'R$10.00'],
    ['Deduction', 'R$0.00', '-R$5.00', 'R$0.00'],
  ]);
  const holder = sale.document.querySelectorAll('td a').find(({ text }) => text === 'Block')!;
  expect(holder.getAttribute('href')).toBe(`${live}/disputes/${dispute.disputeId}`);
  const caseLink = sale.document.querySelector(`td a[href="${live}/refunds/${own.id}"]`);
  expect(textOf(caseLink!.closest('tr'))).toMatch(/R\$[\d.]+ Under review/);
  expect(sale.text).not.toContain(foreign.id);
  const disputeLinks = sale.document.querySelectorAll(`td a[href="${live}/disputes/${dispute.disputeId}"]`);
  const disputeLink = disputeLinks.at(-1);
  expect(textOf(disputeLink!.closest('tr'))).toMatch(/^Other reason rest of the sale Needs your response/);
  const away = stranger.home.replace('/funds', '');
  for (const path of [`${away}/refunds?status=`, `${away}/refunds/${foreign.id}`]) {
    expect((await stranger.visitor.get(path)).text).not.toMatch(/R-7|customer 7/);
  }
});

it('links the blocked balance to the blocked sales', async () => {
  const { funds, visitor, home } = await newMerchant();
  expect((await visitor.get(home)).document.querySelector('.balance a')).toBeNull();
  const { saleId } = await funds.sell({ on: '2020-06-20', gross: 40_000n, installments: 2 });
  await funds.sell({ on: '2020-06-20', gross: 500n });
  await funds.block(saleId, undefined, BlockReason.KYC_PENDING, '2020-06-21', 1_000n);
  const link = (await visitor.get(home)).document.querySelector('.balance a')!;
  const sales = await visitor.get(link.getAttribute('href')!);
  const columns = sales.document.querySelectorAll('thead th').map(textOf);
  const amounts = cells(sales).map((row) => [row[0], row[columns.indexOf('Blocked')]]);
  expect(amounts).toEqual([[saleId, 'R$10.00']]);
});

it('links an installment to each advance of it', async () => {
  const { funds, visitor, home } = await newMerchant();
  const { saleId } = await funds.sell({ on: '2020-06-01', gross: 3_000n, installments: 3 });
  const advances = [randomUUID(), randomUUID()];
  const sourceId = randomUUID();
  const deduction = { ...funds.write('2020-06-02'), sourceId, saleId, amountMinor: 400n };
  await funds.client.applyDeduction(deduction);
  for (const [n, id] of advances.entries()) {
    const { installments } = await funds.advanceable('2020-06-03');
    await funds.reserve(installments.slice(0, 1), id, '2020-06-03');
    await funds.settle(id, '2020-06-03');
    // Restores what the next advance takes.
    if (n === 0) await funds.client.reverseDeduction({ ...funds.write('2020-06-03'), sourceId });
  }
  const { document } = await visitor.get(`${home}/sales/${saleId}`);
  const rows = document.querySelectorAll('tbody tr').slice(0, 3);
  expect(rows.map((row) => textOf(row.querySelectorAll('td')[6]!))).toEqual([
    'R$10.00 view advance view advance',
    'R$0.00',
    'R$0.00',
  ]);
  const links = document.querySelectorAll('td .reasons a').map((link) => link.getAttribute('href'));
  expect(links).toEqual(advances.map((id) => `${home.replace('/funds', '')}/advances/${id}`));
});

it('offers the newest 500 products as a filter, and filters by an older one from its page', async () => {
  const { funds, visitor, home, seed } = await newMerchant();
  const productId = await seed.product();
  await funds.sell({ on: '2020-06-20', gross: 200n, sold: { orderNumber: 'R-1', productId } });
  const newer = { name: 'Newer', created_at: new Date(Date.now() + 1_000) };
  await copyRows(fixture.harness, 'catalog.product', ['id', productId], 501, newer);
  const optionsOf = ({ document }: SeenPage) => document.querySelectorAll('#product option');
  expect(optionsOf(await visitor.get(`${home}/sales`))).toHaveLength(1 + 500);
  const product = await visitor.get(`${home.replace('/funds', '')}/products/${productId}`);
  const link = product.document.querySelector('a[href*="/funds/sales?"]')!;
  const sales = await visitor.get(link.getAttribute('href')!);
  expect(cells(sales).map(([name]) => name)).toEqual([expect.stringContaining('R-1')]);
  const chosen = optionsOf(sales).filter((option) => option.hasAttribute('selected'));
  expect(chosen.map(({ text }) => text)).toEqual(['Course']);
});

it('lists sales newest first, filtered by date, order, product, customer and status', async () => {
  const { funds, visitor, home } = await newMerchant();
  const [orderId, productId] = [randomUUID(), randomUUID()];
  const customerReference = `${'Ç'.repeat(230)}"><b>7</b>&x=1`;
  await funds.sell({ on: '2020-06-19', gross: 100n, sold: { orderNumber: 'R-1', orderId } });
  await funds.sell({
    on: '2020-06-20',
    gross: 200n,
    instant: true,
    sold: { orderNumber: 'R-2', productId, customerReference },
  });
  const seen = async (query: string) =>
    cells(await visitor.get(`${home}/sales?${query}`)).map(([name]) => name!.split(' ')[0]);
  expect(await seen('')).toEqual(['R-2', 'R-1']);
  expect(await seen('from=2020-06-20&to=2020-06-20')).toEqual(['R-2']);
  expect(await seen('order=R-1')).toEqual(['R-1']);
  expect(await seen(`order=${orderId}`)).toEqual(['R-1']);
  expect(await seen(`product=${productId}`)).toEqual(['R-2']);
  expect(await seen(`customer=${encodeURIComponent(` ${customerReference} `)}`)).toEqual(['R-2']);
  expect(await seen('customer=cliente')).toEqual([]);
  const toFile = await visitor.get(`${home}/sales?${new URLSearchParams({ customer: customerReference })}`);
  expect(toFile.document.querySelector('#customer')!.getAttribute('value')).toBe(customerReference);
  const file = await visitor.get(toFile.document.querySelector('.downloads a')!.getAttribute('href')!);
  expect(file.text.match(/^item;/gm)).toHaveLength(1);
  const sale = toFile.document.querySelector('tbody a')!.getAttribute('href')!;
  const others = `dl a[href^="${home}/sales?customer="]`;
  const link = (await visitor.get(sale)).document.querySelector(others)!.getAttribute('href')!;
  expect(cells(await visitor.get(link)).map(([name]) => name)).toEqual([expect.stringContaining('R-2')]);
  expect(await seen('status=RELEASED')).toEqual(['R-2']);
  expect(await seen('status=BLOCKED')).toEqual([]);
  for (const query of ['from=2020-02-30', 'from=2020-06-21&to=2020-06-20']) {
    const refused = await visitor.get(`${home}/sales?${query}`);
    expect([refused.status, refused.document.querySelectorAll('#from-fault').length]).toEqual([422, 1]);
    expect(isFilterFormOpen(refused)).toBe(true);
  }
  for (let n = 0; n < 24; n += 1) await funds.sell({ on: '2020-06-18', gross: 1n });
  const first = await visitor.get(`${home}/sales`);
  expect(isFilterFormOpen(first)).toBe(false);
  const next = await visitor.get(first.document.querySelector('a[rel=next]')!.getAttribute('href')!);
  expect([cells(first).length, cells(next).length]).toEqual([25, 1]);
});
