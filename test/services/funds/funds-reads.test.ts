import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import {
  BankHoliday,
  BlockReason,
  FundsReleaseStatus,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { sharedListHarness } from '../../support/list-suite.ts';
import { planOf } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';
import { type FundsCaller, fundsCaller } from './funds-caller.ts';

const { harness, statements } = sharedListHarness('funds');

/** Rows of all three states, two of them on 2020-07-20. */
async function seed(funds: FundsCaller) {
  await funds.sell({ on: '2020-06-20', gross: 1000n, fees: 10n, installments: 4 });
  await funds.sell({ on: '2020-06-21', gross: 77n, instant: true });
  const held = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
  await funds.block(held.saleId, undefined, BlockReason.KYC_PENDING, '2020-06-22');
}

const ALL = [
  '2020-06-21 RELEASED',
  '2020-07-20 BLOCKED',
  '2020-07-20 SCHEDULED',
  '2020-08-19 BLOCKED',
  '2020-08-19 SCHEDULED',
  '2020-09-18 SCHEDULED',
  '2020-10-19 SCHEDULED',
];

describe('reads of funds', () => {
  const newFunds = () => fundsCaller(harness().transports.inProcess);

  it('rejects a balance beyond 64 bits', async () => {
    const funds = newFunds();
    const debts = async (count: number) => {
      const values = [funds.tenant.merchantId, count];
      await sqlOf(
        harness(),
        `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
         select $1, 'live', gen_random_uuid(), 9007199254740991, 9007199254740991, now() from generate_series(1, $2)`,
        values,
      );
    };
    await debts(1_024);
    expect((await funds.balance()).availableAmountMinor).toBe(-1_024n * 9_007_199_254_740_991n);
    await debts(1);
    await expectRefusal(funds.balance(), Code.OutOfRange, 'AMOUNT_OUT_OF_RANGE');
  });

  it('lists one row per date and status of the installments', async () => {
    const funds = newFunds();
    await seed(funds);
    const { releases, timezone } = await funds.client.listFundsReleases(funds.tenant);
    expect(releases.map((row) => `${row.date} ${FundsReleaseStatus[row.status]}`)).toEqual(ALL);
    expect(timezone).toBe('America/Sao_Paulo');
  });

  it('rejects invalid dates and a reversed period', async () => {
    const funds = newFunds();
    const list = (request: object) => funds.client.listFundsReleases({ ...funds.tenant, ...request });
    for (const field of ['from_date', 'to_date']) {
      const date = list({ [field === 'from_date' ? 'fromDate' : 'toDate']: '2023-02-30' });
      await expectRefusal(date, Code.InvalidArgument, 'INVALID_ARGUMENT', { field });
    }
    const turned = list({ fromDate: '2020-07-02', toDate: '2020-07-01' });
    await expectRefusal(turned, Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'from_date' });
  });

  it('returns the days of a month with the sums of their rows and the distinct sales', async () => {
    const funds = newFunds();
    await seed(funds);
    const calendar = await funds.client.getReleaseCalendar({ ...funds.tenant, month: '2020-07' });
    expect(calendar).toMatchObject({ month: '2020-07', timezone: 'America/Sao_Paulo' });
    expect(calendar.days).toMatchObject([
      {
        date: '2020-07-20',
        releasedAmountMinor: 0n,
        scheduledAmountMinor: 247n,
        advancedAmountMinor: 0n,
        deductionsAmountMinor: 0n,
        salesCount: 2,
        hasBlockedFunds: true,
        blockedAmountMinor: 150n,
      },
    ]);
  });

  it('returns the bank holidays of a month, including weekends, with or without releases', async () => {
    const funds = newFunds();
    const of = async (month: string) => {
      const { holidays } = await funds.client.getReleaseCalendar({ ...funds.tenant, month });
      return holidays.map(({ date, holiday }) => `${date} ${BankHoliday[holiday]}`);
    };
    expect(await of('2026-11')).toEqual([
      '2026-11-02 ALL_SOULS',
      '2026-11-15 REPUBLIC',
      '2026-11-20 BLACK_AWARENESS',
    ]);
    expect(await of('2026-08')).toEqual([]);
    expect((await of('2000-04')).sort()).toEqual(['2000-04-21 GOOD_FRIDAY', '2000-04-21 TIRADENTES']);
  });

  it.each(['2023-02', '2024-02', '2020-12', '9999-12'])('returns months of any length: %s', async (month) => {
    const funds = newFunds();
    expect((await funds.client.getReleaseCalendar({ ...funds.tenant, month })).days).toEqual([]);
  });

  it('returns the current month by default, and rejects the year 0', async () => {
    const funds = newFunds();
    const today = civilDateAt(new Date());
    expect((await funds.client.getReleaseCalendar(funds.tenant)).month).toBe(today.slice(0, 7));
    const never = funds.client.getReleaseCalendar({ ...funds.tenant, month: '0000-01' });
    await expectRefusal(never, Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'month' });
  });

  it('lists what an advance can cover up to a date: free and dated after today', async () => {
    const funds = newFunds();
    await seed(funds);
    const of = async (request: object) => {
      const { installments } = await funds.client.listAdvanceableInstallments({
        ...funds.tenant,
        ...request,
      });
      return installments.map((installment) => installment.date);
    };
    const { occurredAt } = funds.write('2020-07-20');
    expect(await of({ occurredAt })).toEqual(['2020-08-19', '2020-09-18', '2020-10-19']);
    expect(await of({ occurredAt, toDate: '2020-09-18' })).toEqual(['2020-08-19', '2020-09-18']);
    expect(await of({ toDate: '2020-09-18' })).toEqual([]);
    const stranger = newFunds();
    const none = await stranger.client.listAdvanceableInstallments(stranger.tenant);
    expect(none).toMatchObject({ installments: [], scheduleId: '' });
  });

  it('reads no more of what an advance can cover than it returns', async () => {
    const { client, tenant } = newFunds();
    statements.length = 0;
    await client.listAdvanceableInstallments({ ...tenant, toDate: '2099-12-31' });
    expect(statements).toHaveLength(1);
    const plan = await planOf(harness(), statements[0]!);
    expect(plan).toMatch(/Limit .*\n *-> {2}Index Scan using installment_free /);
  });
});
