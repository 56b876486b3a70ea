import { expect } from 'vitest';
import { BlockReason, FundsReleaseStatus } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  blockedReasons,
  type ReleaseRow,
  rowKey,
  rowOriginalMinor,
  rowRemainingMinor,
} from '../../../services/funds/releases/release-rows.ts';
import { type ReleaseStatus, remainingMinor, statusOf } from '../../../services/funds/sales/installment.ts';
import { allItems } from '../../../services/platform/rpc/pages-of.ts';
import type { TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import type { FundsCaller } from './funds-caller.ts';
import type { FundsModel } from './funds-model.ts';

/** Everything visible of an account, as text that is equal for equal accounts. */
export interface ObservedFunds {
  readonly installments: readonly string[];
  readonly rows: readonly string[];
  readonly debts: readonly string[];
  readonly balance: string;
}

/** The account as the service stores and returns it. */
export async function observe(harness: TestHarness, { client, tenant }: FundsCaller): Promise<ObservedFunds> {
  const installments = sqlOf<{ installment: string }>(
    harness,
    `select concat_ws(' ', id, part, split, date, status, gross_minor, fees_minor, deducted_minor, advanced_minor,
            released, reserved_for, reserved_minor,
            (select string_agg(reason || source_id, ' ' order by reason || source_id) from funds.block
              where block.id = any(held_by))) as installment
       from funds.installment where merchant_id = $1 and environment = $2 order by id`,
    [tenant.merchantId, tenant.environment === 1 ? 'live' : 'test'],
  );
  const releases = await allItems(
    (page) => client.listFundsReleases({ ...tenant, ...page }),
    (page) => page.releases,
  );
  const rows = releases.map((row) => {
    const { blockedAmountMinor, releasedAmountMinor, scheduledAmountMinor } = row;
    const byStatus = [blockedAmountMinor, releasedAmountMinor, scheduledAmountMinor];
    const reasons = row.blockedReasons.map((reason) => BlockReason[reason]);
    return [
      row.date,
      FundsReleaseStatus[row.status],
      row.originalAmountMinor,
      row.grossAllocatedAmountMinor,
      row.feesAllocatedAmountMinor,
      row.deductionsAmountMinor,
      row.advancedAmountMinor,
      ...byStatus,
      row.salesCount,
      ...reasons,
    ].join(' ');
  });
  const [{ debts }, balance] = await Promise.all([
    client.listDebts({ ...tenant, pageSize: 100 }),
    client
      .getBalance(tenant)
      .then((sums) =>
        [
          sums.availableAmountMinor,
          sums.releasedAmountMinor,
          sums.scheduledAmountMinor,
          sums.blockedAmountMinor,
          sums.openDebtsAmountMinor,
        ].join(' '),
      ),
  ]);
  return {
    installments: (await installments).map(({ installment }) => installment),
    rows,
    debts: debts.map(({ sourceId, openAmountMinor }) => `${sourceId} ${openAmountMinor}`),
    balance,
  };
}

/** The account according to the model. */
export function expected(model: FundsModel): ObservedFunds {
  const installments = [...model.installments.values()].map((installment) =>
    [
      installment.id,
      installment.part,
      installment.split ? 't' : 'f',
      installment.date,
      statusOf(installment),
      installment.grossMinor,
      installment.feesMinor,
      installment.deductedMinor,
      installment.advancedMinor,
      installment.released ? 't' : 'f',
      ...(installment.reservation
        ? [installment.reservation.advanceRequestId, installment.reservation.amountMinor]
        : []),
      ...installment.heldBy.map(({ reason, sourceId }) => reason + sourceId).sort(),
    ].join(' '),
  );
  const rows = [...model.rows.values()].sort((one, other) => (rowKey(one) < rowKey(other) ? -1 : 1));
  const left = (status: ReleaseStatus) =>
    [...model.installments.values()]
      .filter((installment) => statusOf(installment) === status)
      .reduce((sum, installment) => sum + remainingMinor(installment), 0n);
  const sums = [left('RELEASED'), left('SCHEDULED'), left('BLOCKED'), model.openDebtsMinor()];
  return {
    installments: installments.sort(),
    rows: rows.map(rowText),
    debts: model.debts.map(({ sourceId, openMinor }) => `${sourceId} ${openMinor}`),
    balance: [model.available(), ...sums].join(' '),
  };
}

function rowText(row: ReleaseRow): string {
  const byStatus = (['BLOCKED', 'RELEASED', 'SCHEDULED'] as const).map((status) =>
    row.status === status ? rowRemainingMinor(row) : 0n,
  );
  return [
    row.date,
    row.status,
    rowOriginalMinor(row),
    row.grossMinor,
    row.feesMinor,
    row.deductedMinor,
    row.advancedMinor,
    ...byStatus,
    row.salesCount,
    ...blockedReasons(row),
  ].join(' ');
}

/** Expects the calendar of some months to be the days of the model, each summed from its installments. */
export async function expectCalendar(
  { client, tenant }: FundsCaller,
  model: FundsModel,
  months: Iterable<string>,
): Promise<void> {
  const byDate = Map.groupBy(model.installments.values(), (installment) => installment.date);
  for (const month of months) {
    const { days } = await client.getReleaseCalendar({ ...tenant, month });
    const dates = [...byDate.keys()].filter((date) => date.startsWith(month)).sort();
    const expectedDays = dates.map((date) => {
      const installments = byDate.get(date)!;
      const sum = (of: (installment: (typeof installments)[number]) => bigint) =>
        installments.reduce((all, installment) => all + of(installment), 0n);
      const left = (status: ReleaseStatus) =>
        sum((installment) => (statusOf(installment) === status ? remainingMinor(installment) : 0n));
      return {
        date,
        releasedAmountMinor: left('RELEASED'),
        scheduledAmountMinor: left('SCHEDULED'),
        advancedAmountMinor: sum((installment) => installment.advancedMinor),
        deductionsAmountMinor: sum((installment) => installment.deductedMinor),
        hasBlockedFunds: left('BLOCKED') > 0n,
        blockedAmountMinor: left('BLOCKED'),
        salesCount: new Set(installments.map(({ saleId }) => saleId)).size,
      };
    });
    expect(days).toMatchObject(expectedDays);
    expect(days).toHaveLength(expectedDays.length);
  }
}
