import type { HTMLElement } from 'node-html-parser';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { addDays, civilDateAt } from '../../../../services/platform/civil-date.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';
import { centavosOf } from './calendar-page.ts';

const fixture = await sharedDashboard();

async function newMerchant() {
  const funds = fundsCaller(fixture.transport, newTenant());
  const visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.VIEWER });
  return { funds, visitor, path: `/live/${funds.tenant.merchantId}/funds/projection` };
}

const TOTALS = 'tbody td:last-child data';

it('draws a bar per month with the length of its amounts, and repeats the numbers in a table', async () => {
  const { funds, visitor, path } = await newMerchant();
  await funds.sell({ gross: 120_000n, fees: 1_200n, installments: 6 });
  const held = await funds.sell({ gross: 60_000n, installments: 3 });
  await funds.block(held.saleId);
  const { document } = await visitor.get(path);
  const sum = (column: number) =>
    centavosOf(document.querySelectorAll(`tbody td:nth-child(${column + 1}) data`));
  const balance = await funds.balance();
  expect([sum(2), sum(3)]).toEqual([balance.scheduledAmountMinor, balance.blockedAmountMinor]);
  expect(document.querySelectorAll('tbody tr')).toHaveLength(12);
  const groups = document.querySelectorAll('.chart > svg g');
  const totals = document.querySelectorAll(TOTALS).map((data) => Number(data.getAttribute('value')));
  expect(groups).toHaveLength(12);
  const lengths = groups.map((group) => lengthOf(group));
  const [longest, most] = [Math.max(...lengths), Math.max(...totals)];
  for (const [n, total] of totals.entries()) expect(lengths[n]! / longest).toBeCloseTo(total / most, 3);
  const foot = document.querySelectorAll('tfoot data').map((data) => BigInt(data.getAttribute('value')!));
  expect(foot.at(-1)).toBe(balance.scheduledAmountMinor + balance.blockedAmountMinor);
});

const lengthOf = (group: HTMLElement) =>
  group.querySelectorAll('rect').reduce((sum, rect) => sum + Number(rect.getAttribute('width')), 0);

it('has a title and a description, and no inline style, script or event handler', async () => {
  const { funds, visitor, path } = await newMerchant();
  await funds.sell({ gross: 120_000n, installments: 2 });
  const { document, text } = await visitor.get(path);
  const svg = document.querySelector('svg[role=img]')!;
  const [title, description] = svg
    .getAttribute('aria-labelledby')!
    .split(' ')
    .map((id) => document.getElementById(id));
  expect(textOf(title!)).toBe('Receivables for the next 12 months');
  expect(textOf(description!)).toContain('R$600.00');
  expect(text).not.toMatch(/\sstyle=|<style|\son[a-z]+=|<script(?! type="module" src="\/assets\/)/);
});

it('covers the requested number of months, and shows what is scheduled after them', async () => {
  const { funds, visitor, path } = await newMerchant();
  await funds.sell({ gross: 90_000n, installments: 9 });
  const { document } = await visitor.get(`${path}?months=6`);
  expect(document.querySelectorAll('tbody tr')).toHaveLength(6);
  const shown = centavosOf(document.querySelectorAll(TOTALS));
  expect(shown).toBeLessThan(90_000n);
  const rest = Number(90_000n - shown) / 100;
  expect(textOf(document.querySelector('main'))).toContain(`Another R$${rest.toFixed(2)} is scheduled`);
  const all = await visitor.get(`${path}?months=24`);
  expect(all.document.querySelectorAll('tbody tr')).toHaveLength(24);
  expect(textOf(all.document.querySelector('main'))).not.toContain('another');
  expect((await visitor.get(`${path}?months=7`)).status).toBe(400);
  expect((await visitor.get(`${path}?months=`)).document.querySelectorAll('tbody tr')).toHaveLength(12);
});

it('scales amounts beyond the precision of a double', async () => {
  const { funds, visitor, path } = await newMerchant();
  await funds.sell({ gross: 9_007_199_254_740_991n });
  const earlier = addDays(civilDateAt(new Date()), -10);
  await funds.sell({ gross: 9_007_199_254_740_991n, on: earlier });
  const { status, document } = await visitor.get(path);
  expect(status).toBe(200);
  expect(centavosOf(document.querySelectorAll(TOTALS))).toBe(18_014_398_509_481_982n);
});

it('says that nothing is scheduled', async () => {
  const { visitor, path } = await newMerchant();
  const { document } = await visitor.get(path);
  expect(document.querySelectorAll('svg')).toHaveLength(0);
  expect(textOf(document.querySelector('.empty'))).toBe('No releases in this period.');
});
