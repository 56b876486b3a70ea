import { RefundDebitOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { unlessRefused } from '../../../../services/platform/rpc/connect-errors.ts';
import type { View } from '../../shell/view.ts';
import type { CaseWrite } from './simulated-case.ts';

/**
 * Makes the same calls as the execution workflow: debits the funds or queues the refund for balance, and records which.
 * A case is debited only once, so that both may run, in any order.
 */
export async function completeExecution(view: View, write: CaseWrite) {
  const { refundCaseId, idempotencyKey: key } = write;
  const { refundCase } = await view.clients.refundCases.getRefundCase({ refundCaseId });
  const { amountMinor, saleId, requestedAt, executions: execution } = refundCase!;
  if (!refundCase!.executionStartedAt) return;
  const about = { ...write, amountMinor, execution, ...(saleId !== undefined && { saleId }) };
  const debit = (attempt: number) =>
    unlessRefused(
      view.clients.funds
        .debitForRefund({ ...about, idempotencyKey: `${key}:debit-${attempt}` })
        .then(() => 'DEBITED' as const),
      { INSUFFICIENT_AVAILABLE_BALANCE: 'INSUFFICIENT', REFUND_EXECUTION_ENDED: 'WAITING' },
    );
  const isQueued = (attempt: number) =>
    unlessRefused(
      view.clients.funds
        .awaitFunding({ ...about, requestedAt, idempotencyKey: `${key}:await-${attempt}` })
        .then(({ covered }) => !covered),
      { REFUND_EXECUTION_ENDED: true },
    );
  // Until it is one of the two: the balance may rise and fall again between the calls.
  let outcome = await debit(1);
  for (let attempt = 1; outcome === 'INSUFFICIENT'; attempt += 1) {
    outcome = (await isQueued(attempt)) ? 'WAITING' : await debit(attempt + 1);
  }
  await view.clients.refundCases.recordRefundDebit({
    ...write,
    idempotencyKey: `${key}:record`,
    execution,
    outcome: outcome === 'DEBITED' ? RefundDebitOutcome.DEBITED : RefundDebitOutcome.INSUFFICIENT,
  });
}
