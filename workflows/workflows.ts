// The workflow functions that the worker bundles. Each export's name is its workflow type.
export { notifyContact } from './accounts/notify-contact.workflow.ts';
export { payOutAdvance } from './advances/advance-payout.workflow.ts';
export { freeRefusedAdvance } from './advances/advance-refusal.workflow.ts';
export { releaseAdvance } from './advances/advance-release.workflow.ts';
export { completeAdvanceRequest } from './advances/advance-request.workflow.ts';
export { checkAreas } from './area-check/area-check.workflow.ts';
export { releaseDailyFunds } from './funds/daily-release.workflow.ts';
export { verifyAllFunds } from './funds/nightly-verification.workflow.ts';
export { endDisputeHold, holdDisputedFunds, reverseLostDispute } from './refunds/dispute-hold.workflow.ts';
export { awaitMerchantReview } from './refunds/merchant-review.workflow.ts';
export { executeRefund } from './refunds/refund-execution.workflow.ts';
export { executeFundedRefunds } from './refunds/refund-funding.workflow.ts';
export { endRefundHold, holdRefundFunds } from './refunds/refund-hold.workflow.ts';
export { reverseRefund } from './refunds/refund-reversal.workflow.ts';
export { recordDeliveries } from './webhooks/record-deliveries.workflow.ts';
export { resendDeliveries } from './webhooks/resend-deliveries.workflow.ts';
export { applyWebhookRetention } from './webhooks/retention.workflow.ts';
export { retryDelivery } from './webhooks/retry-delivery.workflow.ts';
