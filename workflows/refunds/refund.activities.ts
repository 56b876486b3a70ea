import { ApplicationFailure } from '@temporalio/common';
import { RefundCaseStatus, RefundDebitOutcome } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundExecution from '../../services/contracts/refunds/refund-execution.contract.ts';
import * as refundReversal from '../../services/contracts/refunds/refund-reversal.contract.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import { createReviewActivities } from './merchant-review.activities.ts';
import { CALL, type RefundClients, readCase, requestOf } from './refund-clients.ts';
import { createFundingActivities } from './refund-funding.activities.ts';
import { createHoldActivities } from './refund-hold.activities.ts';

export type RefundActivities = ReturnType<typeof createRefundActivities>;

/** What a debit came to; ENDED when the execution it was for is over. */
export type DebitOutcome = 'DEBITED' | 'INSUFFICIENT' | 'ENDED';

/**
 * The activities of refunds. Each asks the services for the state first or does what they do only once, so that any
 * of them can be repeated, also by a workflow that runs again.
 */
export function createRefundActivities(clients: RefundClients) {
  const { refunds, funds } = clients;
  return withFinalRefusals({
    ...createReviewActivities(clients),
    ...createHoldActivities(clients),
    ...createFundingActivities(clients),

    /** Debits the merchant's funds for an execution that is under way. Unique by case in funds. */
    async debitRefund(input: refundExecution.ExecuteRefundInput): Promise<DebitOutcome> {
      const refundCase = await readCase(clients, input);
      if (!refundCase.executionStartedAt || refundCase.executions !== input.execution) return 'ENDED';
      const { amountMinor, saleId } = refundCase;
      const idempotencyKey = `${executionId(input)}:debit`;
      try {
        await funds.debitForRefund({ ...requestOf(input), idempotencyKey, amountMinor, saleId }, CALL);
        return 'DEBITED';
      } catch (error) {
        if (errorInfoOf(error)?.reason === 'INSUFFICIENT_AVAILABLE_BALANCE') return 'INSUFFICIENT';
        throw error;
      }
    },

    /**
     * Has the refund wait for the balance, or answers that the balance covers it by now. Each look at the balance is
     * another, so each has a number.
     */
    async awaitRefundFunding(
      input: refundExecution.ExecuteRefundInput,
      look: number,
    ): Promise<'COVERED' | 'WAITING'> {
      const { amountMinor, saleId, requestedAt } = await readCase(clients, input);
      const { execution } = input;
      const idempotencyKey = `${executionId(input)}:await-${look}`;
      const { covered } = await funds.awaitFunding(
        { ...requestOf(input), idempotencyKey, amountMinor, saleId, execution, requestedAt },
        CALL,
      );
      return covered ? 'COVERED' : 'WAITING';
    },

    /** Commits how the debit ended. */
    async recordRefundDebit(
      input: refundExecution.ExecuteRefundInput,
      outcome: Exclude<DebitOutcome, 'ENDED'>,
    ): Promise<Exclude<refundExecution.ExecuteRefundResult, 'ENDED'>> {
      const idempotencyKey = `${executionId(input)}:record`;
      const recorded = { ...requestOf(input), idempotencyKey, outcome: RefundDebitOutcome[outcome] };
      await refunds.recordRefundDebit(recorded, CALL);
      return outcome === 'DEBITED' ? 'PROCESSING' : 'FUNDING_REQUIRED';
    },

    /** Gives a failed refund's debit back, and that of no other. Unique by case in funds. */
    async reverseRefundDebit(input: refundReversal.ReverseRefundInput): Promise<void> {
      const { status } = await readCase(clients, input);
      if (status !== RefundCaseStatus.FAILED) {
        const state = RefundCaseStatus[status];
        throw ApplicationFailure.nonRetryable(`the refund case is ${state}`, 'REFUND_CASE_STATE');
      }
      const idempotencyKey = refundReversal.workflowId(input.refundCaseId);
      await funds.reverseRefundDebit({ ...requestOf(input), idempotencyKey }, CALL);
    },
  });
}

const executionId = ({ refundCaseId, execution }: refundExecution.ExecuteRefundInput) =>
  refundExecution.workflowId(refundCaseId, execution);
