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
import { createSubmissionActivities } from './refund-submission.activities.ts';

export type RefundActivities = ReturnType<typeof createRefundActivities>;

/** The outcome of a debit; ENDED when its execution is over. */
export type DebitOutcome = 'DEBITED' | 'INSUFFICIENT' | 'ENDED';

/**
 * The activities of refunds. All are idempotent, across workflow runs too: each reads the current state first or makes
 * a call that takes effect once.
 */
export function createRefundActivities(clients: RefundClients) {
  const { refunds, funds } = clients;
  return withFinalRefusals({
    ...createReviewActivities(clients),
    ...createHoldActivities(clients),
    ...createFundingActivities(clients),
    ...createSubmissionActivities(clients),

    /** Debits the merchant's funds for an execution in progress. Funds keeps one debit per case. */
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
     * Queues the refund until the balance suffices, or returns COVERED when it does by now. `attempt` makes the
     * idempotency key unique, because every attempt checks the balance anew.
     */
    async awaitRefundFunding(
      input: refundExecution.ExecuteRefundInput,
      attempt: number,
    ): Promise<'COVERED' | 'WAITING'> {
      const { amountMinor, saleId, requestedAt } = await readCase(clients, input);
      const { execution } = input;
      const idempotencyKey = `${executionId(input)}:await-${attempt}`;
      const { covered } = await funds.awaitFunding(
        { ...requestOf(input), idempotencyKey, amountMinor, saleId, execution, requestedAt },
        CALL,
      );
      return covered ? 'COVERED' : 'WAITING';
    },

    /** Commits the outcome of the debit. */
    async recordRefundDebit(
      input: refundExecution.ExecuteRefundInput,
      outcome: Exclude<DebitOutcome, 'ENDED'>,
    ): Promise<Exclude<refundExecution.ExecuteRefundResult, 'ENDED'>> {
      const idempotencyKey = `${executionId(input)}:record`;
      const recorded = { ...requestOf(input), idempotencyKey, outcome: RefundDebitOutcome[outcome] };
      await refunds.recordRefundDebit(recorded, CALL);
      return outcome === 'DEBITED' ? 'PROCESSING' : 'FUNDING_REQUIRED';
    },

    /** Reverses the debit of a FAILED refund; fails in any other state. Funds keeps one reversal per case. */
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
