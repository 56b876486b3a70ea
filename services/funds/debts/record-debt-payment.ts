import type { HandlerContext } from '@connectrpc/connect';
import type {
  RecordDebtPaymentRequest,
  RecordDebtPaymentResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { alreadyExists, failedPrecondition } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { within64Bits } from '../../platform/within-64-bits.ts';
import type { AccountWrites } from '../account-writes.ts';
import { DebtPaymentEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';

/** Records that a merchant has paid open debts from outside, and pays them oldest first. */
export function recordDebtPayment(
  writes: AccountWrites,
  request: RecordDebtPaymentRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const paymentId = request.paymentId.toLowerCase();
  const { amountMinor } = request;
  return writes.run<typeof RecordDebtPaymentResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    if (await tx.findOne(DebtPaymentEntity, { paymentId })) {
      throw alreadyExists('DEBT_PAYMENT_ALREADY_RECORDED', 'a payment with this id has been recorded');
    }
    const openMinor = within64Bits(await account.openDebtsMinor());
    if (amountMinor > openMinor) {
      throw failedPrecondition('OPEN_DEBTS_EXCEEDED', 'the payment is more than the sum of the open debts', {
        openDebtsAmountMinor: String(openMinor),
      });
    }
    await account.payDebts(paymentId, amountMinor);
    return { openDebtsAmountMinor: openMinor - amountMinor };
  });
}
