import type { HandlerContext } from '@connectrpc/connect';
import type {
  CloseDisputeRequest,
  CloseDisputeResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { failedPrecondition, notFound } from '../platform/errors.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { later, occurrenceOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes.ts';
import { DisputeEntity, type DisputeRow, RefundCaseEntity } from './refund-case.entity.ts';
import { disputeEventData } from './refund-case.event.ts';
import { refundCaseMessageOf } from './refund-case.message.ts';
import { lockPayment, storeChange } from './refund-case-store.ts';
import { unblockDisputed } from './refund-execution.ts';

/** Closes a dispute; the payment's last one takes its blocker from the payment's cases. */
export function closeDispute(writes: Writes, request: CloseDisputeRequest, context: HandlerContext) {
  const at = occurrenceOf(request, context);
  return writes.run<typeof CloseDisputeResponseSchema>(request, context, async (tx) => {
    const dispute = await lockDispute(tx, request.disputeId);
    if (dispute.closedAt !== null) throw failedPrecondition('DISPUTE_CLOSED', 'the dispute is closed');
    dispute.closedAt = later(dispute.openedAt, at);
    await tx.publish({
      type: 'dispute.closed.v1',
      objectId: dispute.id,
      data: disputeEventData(dispute),
      occurredAt: dispute.closedAt,
    });
    const { paymentIntentId } = dispute;
    const others = { paymentIntentId, closedAt: null, id: { $ne: dispute.id } };
    if (await tx.findOne(DisputeEntity, others)) return { refundCases: [] };
    const rows = await tx.lock(
      RefundCaseEntity,
      { paymentIntentId, blockedBy: { $contains: ['PAYMENT_DISPUTED'] } },
      { orderBy: { requestedAt: 'asc', id: 'asc' } },
    );
    for (const row of rows) await storeChange(tx, row, unblockDisputed(row, at));
    return { refundCases: rows.map(refundCaseMessageOf) };
  });
}

/** The dispute, under its payment's lock: disputes and new cases of a payment come one after the other. */
async function lockDispute(tx: TenantTransaction, id: string): Promise<DisputeRow> {
  const found = await tx.findOne(DisputeEntity, { id });
  if (!found) throw notFound('DISPUTE_NOT_FOUND', 'there is no such dispute');
  await lockPayment(tx, found.paymentIntentId);
  return (await tx.lockOne(DisputeEntity, { id })) ?? found;
}
