import type { HandlerContext } from '@connectrpc/connect';
import type {
  DebitForRefundRequest,
  DebitForRefundResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { alreadyExists, failedPrecondition } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { allocateRefund } from '../allocation.ts';
import { RefundDebitEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { allocationChange } from '../funds-change.ts';
import { coverageFor } from './refund-coverage.ts';

/**
 * Debits a refund, once, from the funds available to its case; repeating it changes nothing. An execution that awaits
 * funding, or whose case has ended, can no longer debit.
 */
export function debitForRefund(
  writes: AccountWrites,
  request: DebitForRefundRequest,
  context: HandlerContext,
) {
  const debitedAt = occurredAtOf(request, context);
  const refundCaseId = request.refundCaseId.toLowerCase();
  const saleId = request.saleId?.toLowerCase();
  const { amountMinor, execution = 1 } = request;
  return writes.run<typeof DebitForRefundResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, debitedAt);
    const known = await tx.findOne(RefundDebitEntity, { refundCaseId });
    if (known) {
      requireSameDebit(known, amountMinor);
      return {};
    }
    await account.pendingDebits.requireLive(refundCaseId, execution);
    const { availableMinor, saleInstallments, block } = await coverageFor(account, refundCaseId, saleId);
    if (amountMinor > availableMinor) {
      const message = 'the available balance does not cover the refund';
      throw failedPrecondition('INSUFFICIENT_AVAILABLE_BALANCE', message, {
        availableAmountMinor: String(availableMinor),
      });
    }
    const released = await account.installments.released(amountMinor);
    tx.create(RefundDebitEntity, { refundCaseId, saleId, amountMinor, debitedAt });
    await account.pendingDebits.remove(refundCaseId);
    const installments = { ofSale: saleInstallments, released };
    const allocations = allocateRefund(amountMinor, installments, block, account.today);
    const debit = { kind: 'REFUND_DEBIT', sourceId: refundCaseId, saleId } as const;
    await account.store(allocationChange(debit, allocations, account.at));
    tx.logStep('a refund was debited', { refundCaseId, execution, amountMinor: String(amountMinor) });
    return {};
  });
}

function requireSameDebit(
  known: { amountMinor: bigint; reversedAt?: Date | null },
  amountMinor: bigint,
): void {
  if (known.reversedAt) {
    throw failedPrecondition('REFUND_DEBIT_REVERSED', 'the debit has been reversed', { state: 'REVERSED' });
  }
  if (known.amountMinor !== amountMinor) {
    throw alreadyExists('REFUND_ALREADY_DEBITED', 'the refund has been debited with another amount');
  }
}
