import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';

const fixture = await sharedDashboard();

async function newMerchant() {
  const funds = fundsCaller(fixture.transport, newTenant());
  const visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.VIEWER });
  return { funds, visitor, days: `/live/${funds.tenant.merchantId}/funds/days` };
}

it('shows the releases of a day: by status, from gross to remaining', async () => {
  const { funds, visitor, days } = await newMerchant();
  await funds.sell({ on: '2020-06-20', gross: 40_000n, fees: 1_000n, installments: 4 });
  const held = await funds.sell({ on: '2020-06-20', gross: 30_000n, installments: 2 });
  await funds.deduct(2_000n, held.saleId, '2020-06-21');
  await funds.block(held.saleId, undefined, BlockReason.KYC_PENDING, '2020-06-22');
  const { document } = await visitor.get(`${days}/2020-07-20`);
  const rows = document.querySelectorAll('tbody tr').map((row) => row.querySelectorAll('td').map(textOf));
  expect(rows).toEqual([
    ['Blocked verification pending', '1', 'R$150.00', 'R$0.00', 'R$150.00', 'R$20.00', 'R$0.00', 'R$130.00'],
    ['Scheduled', '1', 'R$100.00', 'R$2.50', 'R$97.50', 'R$0.00', 'R$0.00', 'R$97.50'],
  ]);
  expect(document.querySelectorAll('.card').map(textOf)).toEqual([
    'Scheduled R$97.50',
    'Blocked R$130.00',
    'Deducted R$20.00',
  ]);
});

it('says that a day has no releases, and why banks are closed', async () => {
  const { visitor, days } = await newMerchant();
  const { status, document } = await visitor.get(`${days}/2026-12-25`);
  expect(status).toBe(200);
  expect(textOf(document.querySelector('.empty'))).toBe('No releases on this day.');
  expect(textOf(document.querySelector('.notice'))).toBe(
    'Christmas: banks are closed. New card sales are scheduled for the next business day.',
  );
  expect(textOf(document.querySelector('main'))).toContain('Friday');
  const hrefs = document.querySelectorAll('main nav a').map((link) => link.getAttribute('href'));
  expect(hrefs).toEqual([
    days.replace('/days', '?month=2026-12'),
    `${days}/2026-12-24`,
    `${days}/2026-12-26`,
  ]);
});

it.each(['2026-02-30', '2026-11', 'today', '0000-01-01', '99999-01-01', '2026-11-21x'])(
  'returns 404 for the day %s',
  async (name) => {
    const { visitor, days } = await newMerchant();
    expect((await visitor.get(`${days}/${name}`)).status).toBe(404);
  },
);

it('covers the calendar from its first day to its last', async () => {
  const { visitor, days } = await newMerchant();
  const last = (await visitor.get(`${days}/9999-12-31`)).document;
  expect(last.querySelectorAll('main nav a')).toHaveLength(2);
  const first = (await visitor.get(`${days}/0001-01-01`)).document;
  expect(first.querySelectorAll('main nav a')).toHaveLength(2);
});
