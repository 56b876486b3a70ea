import { RefundDebitOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { reasonOf } from '../../shell/failures.ts';
import type { View } from '../../shell/view.ts';
import type { CaseWrite } from './simulated-case.ts';

/** The balance does not suffice, or the execution awaits funding already. */
const NOT_COVERED = new Set<string | undefined>(['INSUFFICIENT_AVAILABLE_BALANCE', 'REFUND_EXECUTION_ENDED']);

/**
 * Makes the same calls as the execution workflow: debits the funds or queues the refund for balance, and records which.
 * A case is debited only once, so that both may run, in any order.
 */
export async function completeExecution(
  { funds, refundCases }: DashboardClients,
  view: View,
  write: CaseWrite,
) {
  const { refundCaseId, idempotencyKey: key } = write;
  const { refundCase } = await refundCases.getRefundCase({ ...view.tenant, refundCaseId }, view.call);
  const { amountMinor, saleId, requestedAt, executions: execution } = refundCase!;
  if (!refundCase!.executionStartedAt) return;
  const about = { amountMinor, execution, ...(saleId !== undefined && { saleId }) };
  const debit = async (attempt: number) => {
    const request = { ...write, ...about, idempotencyKey: `${key}:debit-${attempt}` };
    try {
      await funds.debitForRefund(request, view.call);
      return RefundDebitOutcome.DEBITED;
    } catch (error) {
      if (!NOT_COVERED.has(reasonOf(error))) throw error;
      return RefundDebitOutcome.INSUFFICIENT;
    }
  };
  let outcome = await debit(1);
  if (outcome === RefundDebitOutcome.INSUFFICIENT) {
    const waiting = { ...write, ...about, idempotencyKey: `${key}:await` };
    const { covered } = await funds.awaitFunding(
      { ...waiting, ...(requestedAt && { requestedAt }) },
      view.call,
    );
    if (covered) outcome = await debit(2);
  }
  const record = { ...write, idempotencyKey: `${key}:record`, execution, outcome };
  await refundCases.recordRefundDebit(record, view.call);
}
