import type { HandlerContext } from '@connectrpc/connect';
import type {
  ApplyDeductionRequest,
  ApplyDeductionResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { alreadyExists, failedPrecondition } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { DeductionEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { requireSale } from '../sales/require-sale.ts';
import { deductFrom } from './deduction.ts';

/**
 * Deducts an amount from a sale's installments, then from free ones; the missing amount becomes a debt. With `raise`,
 * deducts only the difference from an earlier deduction for the source.
 */
export function applyDeduction(
  writes: AccountWrites,
  request: ApplyDeductionRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const sourceId = request.sourceId.toLowerCase();
  const saleId = request.saleId?.toLowerCase();
  const { amountMinor, reason } = request;
  return writes.run<typeof ApplyDeductionResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const earlier = await tx.findOne(DeductionEntity, { sourceId });
    if (earlier?.reversedAt) {
      const message = 'the deduction for this source has been reversed';
      throw failedPrecondition('DEDUCTION_REVERSED', message, { state: 'REVERSED' });
    }
    if (earlier && !(request.raise && earlier.saleId === (saleId ?? null))) {
      throw alreadyExists('DEDUCTION_ALREADY_APPLIED', 'a deduction for this source has been applied');
    }
    if (saleId !== undefined) await requireSale(tx, saleId);
    const lackedMinor = amountMinor - (earlier?.amountMinor ?? 0n);
    if (lackedMinor <= 0n) return {};
    const lacked = { sourceId, saleId, amountMinor: lackedMinor, reason };
    const missingMinor = await deductFrom(tx, account, lacked, earlier);
    return { deductedAmountMinor: lackedMinor - missingMinor, debtAmountMinor: missingMinor };
  });
}
