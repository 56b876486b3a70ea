import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client } from '@connectrpc/connect';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type RefundCase,
  type RefundCaseService,
  RefundCaseStatus,
  RefundDebitOutcome,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../services/platform/errors.ts';
import { environmentEnum } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import * as merchantReview from './merchant-review.contract.ts';
import * as refundExecution from './refund-execution.contract.ts';
import * as refundReversal from './refund-reversal.contract.ts';

export interface RefundClients {
  readonly refunds: Client<typeof RefundCaseService>;
  readonly funds: Client<typeof FundsService>;
}

export type RefundActivities = ReturnType<typeof createRefundActivities>;

/** What a debit came to; ENDED when the execution it was for is over. */
export type DebitOutcome = 'DEBITED' | 'INSUFFICIENT' | 'ENDED';

type CaseInput = merchantReview.AwaitMerchantReviewInput;

const CALL: CallOptions = { timeoutMs: 10_000 };

/**
 * The activities of refunds. Each asks the services for the state first or does what they do only once, so that any
 * of them can be repeated, also by a workflow that runs again.
 */
export function createRefundActivities({ refunds, funds }: RefundClients) {
  const caseOf = async (input: CaseInput): Promise<RefundCase> => {
    const { refundCase } = await refunds.getRefundCase(requestOf(input), CALL);
    if (!refundCase) throw new TypeError('the answer holds no refund case');
    return refundCase;
  };
  return withFinalRefusals({
    /** Debits the merchant's funds for an execution that is under way. Unique by case in funds. */
    async debitRefund(input: refundExecution.ExecuteRefundInput): Promise<DebitOutcome> {
      const refundCase = await caseOf(input);
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

    /** When the merchant's review ends (ISO 8601), or null when it is over. */
    async readReviewDeadline(input: merchantReview.AwaitMerchantReviewInput): Promise<string | null> {
      const { status, merchantReviewDeadlineAt } = await caseOf(input);
      if (status !== RefundCaseStatus.MERCHANT_REVIEW || !merchantReviewDeadlineAt) return null;
      return timestampDate(merchantReviewDeadlineAt).toISOString();
    },

    /** Has the deadline decide. A service whose clock is behind is asked again. */
    async expireMerchantReview(
      input: merchantReview.AwaitMerchantReviewInput,
    ): Promise<merchantReview.AwaitMerchantReviewResult> {
      const idempotencyKey = merchantReview.workflowId(input.refundCaseId);
      try {
        await refunds.expireMerchantReview({ ...requestOf(input), idempotencyKey }, CALL);
        return 'EXPIRED';
      } catch (error) {
        const reason = errorInfoOf(error)?.reason;
        if (reason === 'REFUND_CASE_STATE') return 'ENDED';
        if (reason === 'MERCHANT_REVIEW_NOT_DUE')
          throw new Error('the review is not due by the clock of the service');
        throw error;
      }
    },

    /** Gives a failed refund's debit back. Unique by case in funds. */
    async reverseRefundDebit(input: refundReversal.ReverseRefundInput): Promise<void> {
      const idempotencyKey = refundReversal.workflowId(input.refundCaseId);
      await funds.reverseRefundDebit({ ...requestOf(input), idempotencyKey }, CALL);
    },
  });
}

const requestOf = ({ merchantId, environment, refundCaseId }: CaseInput) => ({
  merchantId,
  environment: environmentEnum(environment),
  refundCaseId,
});

const executionId = ({ refundCaseId, execution }: refundExecution.ExecuteRefundInput) =>
  refundExecution.workflowId(refundCaseId, execution);
