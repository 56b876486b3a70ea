import { timestampDate } from '@bufbuild/protobuf/wkt';
import { RefundCaseStatus } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as merchantReview from '../../services/contracts/refunds/merchant-review.contract.ts';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { caseFields, type RefundClients, readCase } from './refund-clients.ts';

/** The activities of the merchant review workflow. */
export function createReviewActivities(clients: RefundClients) {
  const { refunds } = clients;
  return {
    /** When the merchant's review ends (ISO 8601), or null when it already has. */
    async readReviewDeadline(input: RefundCaseKey): Promise<string | null> {
      const { status, merchantReviewDeadlineAt } = await readCase(clients, input);
      if (status !== RefundCaseStatus.MERCHANT_REVIEW || !merchantReviewDeadlineAt) return null;
      return timestampDate(merchantReviewDeadlineAt).toISOString();
    },

    /**
     * Announces that the deadline is approaching. Returns when to try again (ISO 8601) if it is too early, or null once
     * announced or no longer needed.
     */
    async announceReviewDeadline(input: RefundCaseKey): Promise<string | null> {
      const idempotencyKey = `${merchantReview.workflowId(input.refundCaseId)}:notice`;
      try {
        await refunds.announceReviewDeadline({ ...caseFields(input), idempotencyKey });
        return null;
      } catch (error) {
        const info = errorInfoOf(error);
        if (info?.reason === 'DEADLINE_NOTICE_NOT_DUE' && info.metadata.noticeAt)
          return info.metadata.noticeAt;
        if (info?.reason === 'REFUND_CASE_STATE') return null;
        throw error;
      }
    },

    /** Expires the review. Fails, to be retried, while the service's clock is behind the deadline. */
    async expireMerchantReview(input: RefundCaseKey): Promise<merchantReview.AwaitMerchantReviewResult> {
      const idempotencyKey = merchantReview.workflowId(input.refundCaseId);
      try {
        await refunds.expireMerchantReview({ ...caseFields(input), idempotencyKey });
        return 'EXPIRED';
      } catch (error) {
        const reason = errorInfoOf(error)?.reason;
        if (reason === 'REFUND_CASE_STATE') return 'ENDED';
        if (reason === 'MERCHANT_REVIEW_NOT_DUE')
          throw new Error('the review is not due yet according to the clock of the service');
        throw error;
      }
    },
  };
}
