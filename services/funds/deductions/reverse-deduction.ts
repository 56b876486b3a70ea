import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReverseDeductionRequest,
  ReverseDeductionResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { sumOf } from '../../platform/amounts.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { reverse } from '../allocation.ts';
import { BlockEntity, type BlockRow, DeductionEntity, type DeductionRow } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import type { UsedSale } from '../sales/sale-rest.ts';
import { causeOf, movementOf } from '../statement/movement.ts';
import { deductLostDisputes } from './deduct-lost-disputes.ts';

/** The amounts deducted from an installment for a source and not restored, in centavos. */
interface DeductedRow {
  installment_id: string;
  consumed_minor: string;
  deducted_minor: string;
}

const SELECT_DEDUCTED = `
select installment_id, consumed_minor::text, deducted_minor::text from (
  select installment_id,
         sum(case kind when 'CONSUMPTION' then amount_minor when 'CONSUMPTION_REVERSAL' then -amount_minor
               else 0 end) as consumed_minor,
         sum(case when kind in ('DEDUCTION', 'DEBT') then amount_minor when kind = 'DEDUCTION_REVERSAL' then -amount_minor
               else 0 end) as deducted_minor
    from funds.posting
   where merchant_id = :merchantId and environment = :environment and source_id = :sourceId
   group by installment_id
) as deducted where consumed_minor + deducted_minor > 0 order by installment_id`;

/**
 * Reverses the deductions for a source, as when a lost dispute is reversed: what its lost blocks, its deduction and the
 * collection of its debt have deducted returns to the installments it came from, and the unpaid debt is canceled. The
 * source can deduct nothing more, even if it has deducted nothing yet. Other lost disputes of its sales may then deduct
 * what the sales lacked before.
 */
export function reverseDeduction(
  writes: AccountWrites,
  request: ReverseDeductionRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const sourceId = request.sourceId.toLowerCase();
  return writes.run<typeof ReverseDeductionResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, at);
    const deduction = await tx.findOne(DeductionEntity, { sourceId });
    const blocks = await tx.find(BlockEntity, { sourceId, outcome: 'CONSUMED' });
    const saleIds = salesOf(deduction, blocks);
    const before = new Map<string, UsedSale>();
    for (const saleId of saleIds) before.set(saleId, await account.holds.saleOf(saleId));
    const deducted = await deductedFor(tx, sourceId);
    const ids = deducted.map(({ installmentId }) => installmentId);
    const allocations = reverse(deducted, await account.installments.byIds(ids), account.today);
    const canceledMinor = cancelDebt(tx, sourceId, deduction, at);
    for (const block of blocks) block.outcome = 'REVERSED';
    await tx.flush();
    const cause = causeOf('DEDUCTION_REVERSAL', sourceId, saleIds.length === 1 ? saleIds[0] : undefined);
    await account.store({
      installments: allocations,
      postings: deducted.flatMap(({ reversals }) => reversals),
      movements: movementOf(cause, allocations, at, -canceledMinor),
      saleIds,
    });
    const restoredMinor = sumOf(deducted, ({ amountMinor }) => amountMinor);
    const amounts = { restoredMinor: String(restoredMinor), canceledDebtMinor: String(canceledMinor) };
    tx.logStep('a deduction was reversed', { sourceId, ...amounts });
    for (const [id, sale] of before) await deductLostDisputes(tx, account, id, sale);
    return { restoredAmountMinor: restoredMinor, canceledDebtAmountMinor: canceledMinor };
  });
}

function salesOf(deduction: DeductionRow | null, blocks: readonly BlockRow[]): string[] {
  const deducted = deduction?.saleId && !deduction.reversedAt ? [deduction.saleId] : [];
  return [...new Set([...blocks.map(({ saleId }) => saleId), ...deducted])].toSorted();
}

/** The installments from which amounts were deducted for a source, and the postings that reverse them. */
async function deductedFor(tx: TenantTransaction, sourceId: string) {
  await tx.flush();
  const rows = await tx.execute<DeductedRow>(SELECT_DEDUCTED, { sourceId });
  return rows.map(({ installment_id: installmentId, ...row }) => {
    const posting = { sourceId, installmentId };
    const [consumedMinor, deductedMinor] = [BigInt(row.consumed_minor), BigInt(row.deducted_minor)];
    const reversals = [
      { ...posting, kind: 'CONSUMPTION_REVERSAL', amountMinor: consumedMinor } as const,
      { ...posting, kind: 'DEDUCTION_REVERSAL', amountMinor: deductedMinor } as const,
    ].filter(({ amountMinor }) => amountMinor > 0n);
    return { installmentId, amountMinor: consumedMinor + deductedMinor, reversals };
  });
}

/** Cancels the unpaid debt, and blocks later deductions for the source. Returns the canceled amount. */
function cancelDebt(
  tx: TenantTransaction,
  sourceId: string,
  deduction: DeductionRow | null,
  reversedAt: Date,
): bigint {
  if (deduction === null) {
    const nothing = { amountMinor: 0n, openDebtMinor: 0n, canceledDebtMinor: 0n, occurredAt: reversedAt };
    tx.create(DeductionEntity, { sourceId, saleId: null, ...nothing, reversedAt, reason: null });
    return 0n;
  }
  const canceledMinor = deduction.openDebtMinor;
  deduction.reversedAt ??= reversedAt;
  deduction.canceledDebtMinor += canceledMinor;
  deduction.openDebtMinor = 0n;
  return canceledMinor;
}
