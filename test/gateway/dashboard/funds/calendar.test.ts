import { describe, expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../../services/platform/civil-date.ts';
import { type FundsCaller, fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';
import { cellOf } from './calendar-page.ts';

const fixture = await sharedDashboard();

async function newMerchant(
  role = Role.VIEWER,
): Promise<{ funds: FundsCaller; visitor: Visitor; home: string }> {
  const funds = fundsCaller(fixture.transport, newTenant());
  const visitor = await fixture.signIn({ [funds.tenant.merchantId]: role });
  return { funds, visitor, home: `/live/${funds.tenant.merchantId}/funds` };
}

describe('the release calendar', () => {
  it('shows a month in weeks from Sunday, each day with its amounts by kind', async () => {
    const { funds, visitor, home } = await newMerchant();
    await funds.sell({ on: '2020-06-20', gross: 100_000n, fees: 1_000n, installments: 4 });
    const held = await funds.sell({ on: '2020-06-20', gross: 30_000n, installments: 2 });
    await funds.block(held.saleId, undefined, BlockReason.KYC_PENDING, '2020-06-22');
    const { status, document } = await visitor.get(`${home}?month=2020-07`);
    expect(status).toBe(200);
    const weeks = document.querySelectorAll('table.month tbody tr');
    expect(weeks.map((week) => week.querySelectorAll('td').length)).toEqual([7, 7, 7, 7, 7]);
    expect(document.querySelectorAll('table.month th[scope=col]').map(textOf)[0]).toBe('Sunday');
    expect(textOf(weeks[0]!.querySelectorAll('td')[3]!)).toBe('1');
    expect(textOf(cellOf(document, '2020-07-20'))).toBe('20 Scheduled R$247.50 Blocked R$150.00');
    expect(textOf(cellOf(document, '2020-07-21'))).toBe('21');
    expect(document.querySelectorAll('td.held').map(textOf)).toHaveLength(1);
    expect(textOf(document.querySelector('dl.totals'))).toBe('Scheduled R$247.50 Blocked R$150.00');
  });

  it('names weekends and bank holidays, and marks today', async () => {
    const { visitor, home } = await newMerchant();
    const november = (await visitor.get(`${home}?month=2026-11`)).document;
    expect(textOf(cellOf(november, '2026-11-20'))).toContain('Black Awareness Day');
    expect(textOf(cellOf(november, '2026-11-15'))).toContain('Republic Day');
    expect(textOf(cellOf(november, '2026-11-14'))).toContain('Weekend');
    expect(cellOf(november, '2026-11-20').classList.contains('closed')).toBe(true);
    expect(cellOf(november, '2026-11-19').classList.contains('closed')).toBe(false);
    const today = civilDateAt(new Date());
    const current = (await visitor.get(home)).document;
    expect(current.querySelectorAll('td.today')).toHaveLength(1);
    expect(textOf(cellOf(current, today))).toContain('today');
    const both = (await visitor.get(`${home}?month=2000-04`)).document;
    expect(textOf(cellOf(both, '2000-04-21'))).toMatch(/Good Friday|Tiradentes/);
  });

  it('links to the adjacent months, the current month and every day', async () => {
    const { visitor, home } = await newMerchant();
    const { document } = await visitor.get(`${home}?month=2026-01`);
    expect(document.querySelector('a[rel=prev]')?.getAttribute('href')).toBe(`${home}?month=2025-12`);
    expect(document.querySelector('a[rel=next]')?.getAttribute('href')).toBe(`${home}?month=2026-02`);
    expect(document.querySelectorAll('table.month a').map((link) => link.getAttribute('href'))).toEqual(
      Array.from({ length: 31 }, (_, n) => `${home}/days/2026-01-${String(n + 1).padStart(2, '0')}`),
    );
    const last = (await visitor.get(`${home}?month=9999-12`)).document;
    expect([last.querySelector('a[rel=next]'), textOf(cellOf(last, '9999-12-31'))]).toEqual([null, '31']);
    const first = (await visitor.get(`${home}?month=0001-01`)).document;
    expect([first.querySelector('a[rel=prev]'), first.querySelectorAll('td.day').length]).toEqual([null, 31]);
    const none = (await visitor.get(`${home}?month=`)).document;
    expect(none.querySelectorAll('td.today')).toHaveLength(1);
  });

  // Browsers accept years of six digits.
  it.each([
    '9999-99',
    '0000-01',
    '2026-13',
    '2026-1',
    'x',
    '2026-11-01',
    '10000-01',
    '275760-09',
    '13/2026',
    '1/2026',
  ])('says at its field that %s is not a month, and shows the current one', async (month) => {
    const { visitor, home } = await newMerchant();
    const { status, document } = await visitor.get(`${home}?month=${month}`);
    expect([
      status,
      document.querySelector('#month-fault')?.text,
      document.querySelectorAll('td.today').length,
    ]).toEqual([422, 'Enter a month, such as 11/2026.', 1]);
    expect(document.querySelector('#month')?.getAttribute('value')).toBe(month);
    const typed = (await visitor.get(home)).document.querySelector('input[type=month]')!;
    const pattern = new RegExp(`^(?:${typed.getAttribute('pattern')})$`);
    // A year 0 looks like one.
    expect(pattern.test(month)).toBe(month === '0000-01');
    expect(pattern.test('2026-01')).toBe(true);
    expect(pattern.test('01/2026')).toBe(true);
  });

  it('takes a month as it is written in Brazil, where a browser has only a text field for it', async () => {
    const { visitor, home } = await newMerchant();
    const { status, document } = await visitor.get(`${home}?month=06/2020`);
    expect([status, document.querySelector('#month')?.getAttribute('value')]).toEqual([200, '2020-06']);
    expect(document.querySelector('a[rel=next]')?.getAttribute('href')).toBe(`${home}?month=2020-07`);
  });

  it('formats amounts in Portuguese for Portuguese readers', async () => {
    const { funds, visitor, home } = await newMerchant();
    await funds.sell({ on: '2020-06-21', gross: 123_456_789n, instant: true });
    const { text } = await visitor.reading('pt-BR').get(`${home}?month=2020-06`);
    expect(text).toContain('<html lang="pt-BR"');
    expect(text.replaceAll('\u00a0', ' ')).toContain('R$ 1.234.567,89');
    for (const words of ['junho de 2020', 'Liberado', 'segunda-feira', 'Corpus Christi', 'Fim de semana']) {
      expect(text).toContain(words);
    }
  });

  it('shows amounts beyond the precision of a double, to the centavo', async () => {
    const { funds, visitor, home } = await newMerchant();
    for (const on of ['2020-06-21', '2020-06-22', '2020-06-23']) {
      await funds.sell({ on, gross: 9_007_199_254_740_991n, instant: true });
    }
    const { document } = await visitor.get(`${home}?month=2020-06`);
    expect(textOf(cellOf(document, '2020-06-22'))).toContain('R$90,071,992,547,409.91');
    expect(textOf(document.querySelector('.figure'))).toBe('R$270,215,977,642,229.73');
    expect(textOf(document.querySelector('dl.totals'))).toContain('R$270,215,977,642,229.73');
  });

  it('says that the balance exceeds the exact range, and shows the rest', async () => {
    const { funds, visitor, home } = await newMerchant();
    await sqlOf(
      fixture.harness,
      `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
       select $1, 'live', gen_random_uuid(), 9007199254740991, 9007199254740991, now() from generate_series(1, 1025)`,
      [funds.tenant.merchantId],
    );
    const { status, document } = await visitor.get(home);
    expect(status).toBe(200);
    expect(textOf(document.querySelector('.notice.busy'))).toContain('too large');
    expect(document.querySelectorAll('table.month')).toHaveLength(1);
  });

  it('is complete for a merchant without sales', async () => {
    const { visitor, home } = await newMerchant();
    const { status, document } = await visitor.get(home);
    expect(status).toBe(200);
    expect(document.querySelectorAll('.card .figure').map(textOf)).toEqual(Array(5).fill('R$0.00'));
    expect(textOf(document.querySelector('main'))).toContain('No releases this month.');
    expect(textOf(document.querySelector('section.debts .empty'))).toBe('No open debts.');
  });
});

describe('open debts', () => {
  it('are listed oldest first, in pages, below the month that is shown', async () => {
    const { funds, visitor, home } = await newMerchant();
    for (let n = 1; n <= 22; n += 1) await funds.deduct(BigInt(n * 100), undefined, '2020-06-20');
    const first = await visitor.get(`${home}?month=2020-06`);
    const rows = (page: typeof first) => page.document.querySelectorAll('section.debts tbody tr');
    expect(rows(first)).toHaveLength(20);
    const next = first.document.querySelector('section.debts a[rel=next]')!.getAttribute('href')!;
    expect(next).toContain('month=2020-06');
    const second = await visitor.get(next.replaceAll('&amp;', '&'));
    expect(rows(second)).toHaveLength(2);
    expect(second.document.querySelectorAll('section.debts a[rel=next]')).toHaveLength(0);
    const amounts = [...rows(first), ...rows(second)].map((row) =>
      textOf(row.querySelectorAll('td.number')[1]!),
    );
    expect(new Set(amounts).size).toBe(22);
    expect((await visitor.get(`${home}?page=tampered`)).status).toBe(422);
  });
});
