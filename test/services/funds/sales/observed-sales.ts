import { expect } from 'vitest';
import {
  type FundsRelease,
  type ReleaseSale,
  type Sale,
  SaleStatus,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type ReleaseStatus,
  remainingMinor,
  statusOf,
} from '../../../../services/funds/sales/installment.ts';
import { saleStatusOf } from '../../../../services/funds/sales/sale-status.ts';
import type { FundsCaller } from '../funds-caller.ts';
import type { FundsModel } from '../funds-model.ts';

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextPageToken: string;
}

async function all<Row>(
  list: (page: { pageSize: number; pageToken: string }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let pageToken = ''; ; ) {
    const page = await list({ pageSize: 100, pageToken });
    rows.push(...page.rows);
    pageToken = page.nextPageToken;
    if (pageToken === '') return rows;
  }
}

/** Expects the sales of the model, each in the status and with the sums that follow from its installments. */
export async function expectSales({ client, tenant }: FundsCaller, model: FundsModel): Promise<void> {
  const listed = await all<Sale>(async (page) => {
    const { sales, nextPageToken } = await client.listSales({ ...tenant, ...page });
    return { rows: sales, nextPageToken };
  });
  const expected = [...model.sales].map(([id, { grossMinor, feesMinor, installments }]) => {
    const parts = model.installmentsOf(id);
    const sum = (of: (part: (typeof parts)[number]) => bigint) =>
      parts.reduce((total, part) => total + of(part), 0n);
    const left = (status: ReleaseStatus) =>
      sum((part) => (statusOf(part) === status ? remainingMinor(part) : 0n));
    return {
      id,
      installments,
      status: SaleStatus[saleStatusOf(parts.map(statusOf))],
      grossAmountMinor: grossMinor,
      feesAmountMinor: feesMinor,
      originalAmountMinor: grossMinor - feesMinor,
      deductionsAmountMinor: sum((part) => part.deductedMinor),
      advancedAmountMinor: sum((part) => part.advancedMinor),
      blockedAmountMinor: left('BLOCKED'),
      releasedAmountMinor: left('RELEASED'),
      scheduledAmountMinor: left('SCHEDULED'),
    };
  });
  const byId = <Row extends { id: string }>(rows: readonly Row[]) =>
    rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  expect(byId(listed)).toMatchObject(byId(expected));
  expect(listed).toHaveLength(expected.length);
}

/** Expects the sales behind each release row to add up to it, and those behind each day to its rows. */
export async function expectSalesBehindRows({ client, tenant }: FundsCaller): Promise<void> {
  const rows = await all<FundsRelease>(async (page) => {
    const { releases, nextPageToken } = await client.listFundsReleases({ ...tenant, ...page });
    return { rows: releases, nextPageToken };
  });
  const salesOf = (row: Pick<FundsRelease, 'date'> & Partial<Pick<FundsRelease, 'status'>>) =>
    all<ReleaseSale>(async (page) => {
      const { sales, nextPageToken } = await client.listReleaseSales({ ...tenant, ...row, ...page });
      return { rows: sales, nextPageToken };
    });
  for (const [date, ofDay] of Map.groupBy(rows, (row) => row.date)) {
    const salesOfRows = await Promise.all(ofDay.map(({ status }) => salesOf({ date, status })));
    for (const [index, row] of ofDay.entries()) {
      const sales = salesOfRows[index]!;
      expect({ date, ...sumsOf(sales), sales: sales.length }).toEqual({
        date,
        ...sumsOf([row]),
        sales: row.salesCount,
      });
    }
    const sales = await salesOf({ date });
    expect({ date, ...sumsOf(sales) }).toEqual({ date, ...sumsOf(ofDay) });
    const ids = salesOfRows.flat().map(({ sale }) => sale!.id);
    expect(sales.map(({ sale }) => sale!.id)).toEqual([...new Set(ids)].sort());
  }
}

const AMOUNTS = [
  'originalAmountMinor',
  'grossAllocatedAmountMinor',
  'feesAllocatedAmountMinor',
  'deductionsAmountMinor',
  'advancedAmountMinor',
  'blockedAmountMinor',
  'releasedAmountMinor',
  'scheduledAmountMinor',
] as const;

/** The totals, and the reasons of any. */
function sumsOf(rows: readonly Pick<FundsRelease, (typeof AMOUNTS)[number] | 'blockedReasons'>[]) {
  const totals = AMOUNTS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0n)] as const);
  const reasons = new Set(rows.flatMap(({ blockedReasons }) => blockedReasons));
  return { ...Object.fromEntries(totals), blockedReasons: [...reasons].sort() };
}
