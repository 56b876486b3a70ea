import { RefundDebitOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { reasonOf } from '../../shell/failures.ts';
import type { View } from '../../shell/view.ts';
import type { CaseWrite } from './simulated-case.ts';

/**
 * What the workflow of an execution does, by the same calls: debits the funds, or has the refund wait for the balance,
 * and records which. Funds debits a case once, so that both may come, in any order.
 */
export async function carryOnExecution(
  { funds, refundCases }: DashboardClients,
  view: View,
  write: CaseWrite,
) {
  const { refundCaseId, idempotencyKey: key } = write;
  const { refundCase } = await refundCases.getRefundCase({ ...view.tenant, refundCaseId }, view.call);
  const { amountMinor, saleId, requestedAt, executions: execution } = refundCase!;
  if (!refundCase!.executionStartedAt) return;
  const about = { amountMinor, ...(saleId !== undefined && { saleId }) };
  const debit = async (look: number) => {
    const request = { ...write, ...about, idempotencyKey: `${key}:debit-${look}` };
    try {
      await funds.debitForRefund(request, view.call);
      return RefundDebitOutcome.DEBITED;
    } catch (error) {
      if (reasonOf(error) !== 'INSUFFICIENT_AVAILABLE_BALANCE') throw error;
      return RefundDebitOutcome.INSUFFICIENT;
    }
  };
  let outcome = await debit(1);
  if (outcome === RefundDebitOutcome.INSUFFICIENT) {
    const waiting = { ...write, ...about, idempotencyKey: `${key}:await`, execution };
    const { covered } = await funds.awaitFunding(
      { ...waiting, ...(requestedAt && { requestedAt }) },
      view.call,
    );
    if (covered) outcome = await debit(2);
  }
  await refundCases.recordRefundDebit({ ...write, idempotencyKey: `${key}:record`, outcome }, view.call);
}
