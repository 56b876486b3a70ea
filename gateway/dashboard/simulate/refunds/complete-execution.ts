import { RefundDebitOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { reasonOf } from '../../shell/failures.ts';
import type { View } from '../../shell/view.ts';
import type { CaseWrite } from './simulated-case.ts';

/** The balance is insufficient, or the execution is already waiting for funds. */
const NOT_COVERED = new Set<string | undefined>(['INSUFFICIENT_AVAILABLE_BALANCE', 'REFUND_EXECUTION_ENDED']);

/**
 * Makes the same calls as the execution workflow: debits the funds or queues the refund for balance, and records which.
 * A case is debited only once, so that both may run, in any order.
 */
export async function completeExecution(view: View, write: CaseWrite) {
  const { refundCaseId, idempotencyKey: key } = write;
  const { refundCase } = await view.clients.refundCases.getRefundCase({ refundCaseId });
  const { amountMinor, saleId, requestedAt, executions: execution } = refundCase!;
  if (!refundCase!.executionStartedAt) return;
  const about = { amountMinor, execution, ...(saleId !== undefined && { saleId }) };
  const debit = async (attempt: number) => {
    const request = { ...write, ...about, idempotencyKey: `${key}:debit-${attempt}` };
    try {
      await view.clients.funds.debitForRefund(request);
      return RefundDebitOutcome.DEBITED;
    } catch (error) {
      if (!NOT_COVERED.has(reasonOf(error))) throw error;
      return RefundDebitOutcome.INSUFFICIENT;
    }
  };
  let outcome = await debit(1);
  if (outcome === RefundDebitOutcome.INSUFFICIENT) {
    const waiting = { ...write, ...about, idempotencyKey: `${key}:await` };
    const { covered } = await view.clients.funds.awaitFunding({
      ...waiting,
      ...(requestedAt && { requestedAt }),
    });
    if (covered) outcome = await debit(2);
  }
  const record = { ...write, idempotencyKey: `${key}:record`, execution, outcome };
  await view.clients.refundCases.recordRefundDebit(record);
}
