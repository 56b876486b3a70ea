import type { HandlerContext } from '@connectrpc/connect';
import type {
  RespondToDisputeRequest,
  RespondToDisputeResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { publishDisputeEvent } from '../refund-case.event.ts';
import { lockDispute } from '../refund-case-store.ts';
import { storedDisputeMessage } from './dispute.message.ts';
import { recordResponse } from './dispute.ts';

/**
 * Records the merchant's response. It competes with the end of the dispute for the dispute's lock: the first one wins.
 * DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_RESPONDED, DISPUTE_RESPONSE_OVERDUE.
 */
export function respondToDispute(writes: Writes, request: RespondToDisputeRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RespondToDisputeResponseSchema>(request, context, async (tx) => {
    const dispute = await lockDispute(tx, request.disputeId);
    const response = recordResponse(dispute, request.text, at);
    Object.assign(dispute, response);
    tx.logStep('the merchant responded to a dispute', { disputeId: dispute.id });
    await publishDisputeEvent(tx, dispute, 'dispute.responded.v1', response.respondedAt);
    return { dispute: storedDisputeMessage(dispute) };
  });
}
