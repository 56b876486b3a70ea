import type { HandlerContext } from '@connectrpc/connect';
import type {
  ApplyDeductionRequest,
  ApplyDeductionResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { alreadyExists } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { takeDeduction } from './allocation.ts';
import { DeductionEntity } from './funds.entity.ts';
import { FundsAccount } from './funds-account.ts';
import { requireSale } from './require-sale.ts';

/** Takes an amount from a sale's parts, then from free ones; what is missing becomes a debt. */
export function applyDeduction(writes: Writes, request: ApplyDeductionRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  const sourceId = request.sourceId.toLowerCase();
  const saleId = request.saleId?.toLowerCase();
  const { amountMinor } = request;
  return writes.run<typeof ApplyDeductionResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    if (await tx.findOne(DeductionEntity, { sourceId })) {
      throw alreadyExists('DEDUCTION_ALREADY_APPLIED', 'a deduction for this source has been applied');
    }
    if (saleId !== undefined) await requireSale(tx, saleId);
    const own = saleId === undefined ? [] : await account.parts.ofSale(saleId);
    const took = takeDeduction(amountMinor, own, await account.parts.free(amountMinor), account.today);
    tx.create(DeductionEntity, {
      sourceId,
      saleId,
      amountMinor,
      openDebtMinor: took.missingMinor,
      occurredAt,
    });
    await account.storeTakings('DEDUCTION', sourceId, took.takings);
    return { deductedAmountMinor: amountMinor - took.missingMinor, debtAmountMinor: took.missingMinor };
  });
}
