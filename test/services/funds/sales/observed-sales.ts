import { expect } from 'vitest';
import { type FundsRelease, SaleStatus } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type ReleaseStatus,
  remainingMinor,
  statusOf,
} from '../../../../services/funds/sales/installment.ts';
import { saleStatusOf } from '../../../../services/funds/sales/sale-status.ts';
import { allItems } from '../../../../services/platform/rpc/pages-of.ts';
import type { FundsCaller } from '../funds-caller.ts';
import type { FundsModel } from '../funds-model.ts';

/** Expects the sales of the model, each in the status and with the sums that follow from its installments. */
export async function expectSales({ client, tenant }: FundsCaller, model: FundsModel): Promise<void> {
  const listed = await allItems(
    (page) => client.listSales({ ...tenant, ...page }),
    ({ sales }) => sales,
  );
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
  const rows = await allItems(
    (page) => client.listFundsReleases({ ...tenant, ...page }),
    ({ releases }) => releases,
  );
  const salesOf = (row: Pick<FundsRelease, 'date'> & Partial<Pick<FundsRelease, 'status'>>) =>
    allItems(
      (page) => client.listReleaseSales({ ...tenant, ...row, ...page }),
      ({ sales }) => sales,
    );
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
