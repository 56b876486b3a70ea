import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReverseDisputeRequest,
  ReverseDisputeResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notifyOfOutcome } from '../../contracts/accounts/notify-contact.contract.ts';
import * as disputeHold from '../../contracts/refunds/dispute-hold.contract.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { publishDisputeEvent } from '../refund-case.event.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockDisputedPayment } from '../refund-case-store.ts';
import { storedDisputeMessage } from './dispute.message.ts';
import { recordReversal } from './dispute-outcome.ts';
import { raiseLostDisputes } from './lost-disputes.ts';
import { unblockCovered } from './unblock-covered.ts';

/**
 * Records that a lost dispute was reversed, as on appeal, and has funds restore the deduction. Unblocks the refund
 * cases that the payment now covers, and deducts for other lost disputes what the payment lacked before.
 * DISPUTE_NOT_FOUND, DISPUTE_NOT_LOST, DISPUTE_REVERSED.
 */
export function reverseDispute(writes: Writes, request: ReverseDisputeRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof ReverseDisputeResponseSchema>(request, context, async (tx) => {
    const { dispute, payment } = await lockDisputedPayment(tx, request.disputeId);
    const reversed = recordReversal(dispute, at);
    Object.assign(dispute, reversed);
    tx.logStep('a lost dispute was reversed', { disputeId: dispute.id });
    await publishDisputeEvent(tx, dispute, 'dispute.reversed.v1', reversed.reversedAt);
    await tx.command(disputeHold.reverseCommand({ ...tx.tenant, disputeId: dispute.id }));
    await notifyOfOutcome(tx, { kind: 'DISPUTE_ENDED', subjectId: dispute.id }, reversed.reversedAt);
    await raiseLostDisputes(tx, payment, dispute.id);
    const unblocked = await unblockCovered(tx, payment, at);
    return {
      refundCases: unblocked.map(storedRefundCaseMessage),
      dispute: storedDisputeMessage(dispute),
    };
  });
}
