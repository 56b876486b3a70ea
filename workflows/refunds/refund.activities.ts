import { ApplicationFailure } from '@temporalio/common';
import { RefundCaseStatus } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import * as refundReversal from '../../services/contracts/refunds/refund-reversal.contract.ts';
import { tenantFields } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import { createReviewActivities } from './merchant-review.activities.ts';
import { caseFields, type RefundClients, readCase } from './refund-clients.ts';
import { createExecutionActivities } from './refund-execution.activities.ts';
import { createFundingActivities } from './refund-funding.activities.ts';
import { createHoldActivities, liftRefundHold } from './refund-hold.activities.ts';
import { createSubmissionActivities } from './refund-submission.activities.ts';

export type RefundActivities = ReturnType<typeof createRefundActivities>;

/**
 * The activities of refunds. All are idempotent, across workflow runs too: each reads the current state first or makes
 * a call that takes effect once.
 */
export function createRefundActivities(clients: RefundClients) {
  const { funds } = clients;
  return withFinalRefusals({
    ...createReviewActivities(clients),
    ...createHoldActivities(clients),
    ...createFundingActivities(clients),
    ...createSubmissionActivities(clients),
    ...createExecutionActivities(clients),

    /**
     * Reverses the debit of a FAILED refund; fails in any other state. First lifts its hold, which would take what returns.
     * Funds keeps one reversal per case.
     */
    async reverseRefundDebit(input: RefundCaseKey): Promise<void> {
      const refundCase = await readCase(clients, input);
      const { status } = refundCase;
      if (status !== RefundCaseStatus.FAILED) {
        const state = RefundCaseStatus[status];
        throw ApplicationFailure.nonRetryable(`the refund case is ${state}`, 'REFUND_CASE_STATE');
      }
      const idempotencyKey = refundReversal.workflowId(input.refundCaseId);
      await liftRefundHold(funds, tenantFields(input), refundCase, idempotencyKey);
      await funds.reverseRefundDebit({ ...caseFields(input), idempotencyKey });
    },
  });
}
