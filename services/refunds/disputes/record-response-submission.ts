import type { HandlerContext } from '@connectrpc/connect';
import type {
  RecordResponseSubmissionRequest,
  RecordResponseSubmissionResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { lockDispute } from '../refund-case-store.ts';
import { storedDisputeMessage } from './dispute.message.ts';
import { recordSubmission } from './dispute.ts';

/**
 * Records that the merchant's response has been submitted to the provider.
 * DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_NOT_RESPONDED, DISPUTE_RESPONSE_SUBMITTED.
 */
export function recordResponseSubmission(
  writes: Writes,
  request: RecordResponseSubmissionRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RecordResponseSubmissionResponseSchema>(request, context, async (tx) => {
    const dispute = await lockDispute(tx, request.disputeId);
    Object.assign(dispute, recordSubmission(dispute, at));
    tx.logStep('the response to a dispute was submitted', { disputeId: dispute.id });
    return { dispute: storedDisputeMessage(dispute) };
  });
}
