import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import {
  DisputeReason,
  type OpenDisputeRequest,
  type OpenDisputeResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import * as disputeHold from '../../contracts/refunds/dispute-hold.contract.ts';
import { enumName } from '../../platform/enum-name.ts';
import { alreadyExists } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { blockDisputed, requireDisputable } from '../execution/refund-execution.ts';
import { DisputeEntity, RefundCaseEntity } from '../refund-case.entity.ts';
import { publishDisputeEvent } from '../refund-case.event.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { isClosed } from '../refund-case.ts';
import { lockPayment, storeChange } from '../refund-case-store.ts';
import type { NoticeDependencies } from '../review/announce-review-deadline.ts';
import { storedDisputeMessage } from './dispute.message.ts';
import { disputedAmount, disputedSale, dueDateOf, dueNoticeAt } from './dispute.ts';
import { heldSaleOf } from './dispute-outcome.ts';

/**
 * Opens a dispute of a payment, which blocks the payment's refund cases while it is open and holds its sale's funds.
 * DUE_DATE_BEFORE_OPENING, DISPUTE_ALREADY_EXISTS, REFUND_EXECUTION_STARTED, PAYMENT_FACTS_DIFFER, DISPUTE_EXCEEDS_PAYMENT.
 */
export function openDispute(
  { writes, noticeMs }: NoticeDependencies,
  request: OpenDisputeRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const reason = enumName(DisputeReason, request.reason || DisputeReason.GENERAL);
  return writes.run<typeof OpenDisputeResponseSchema>(request, context, async (tx) => {
    // Not before: the due date of a repeated call may have passed.
    const dueAt = dueDateOf(request.dueAt && timestampDate(request.dueAt), at);
    const payment = await lockPayment(tx, request.paymentIntentId);
    const id = request.disputeId.toLowerCase();
    if (await tx.findOne(DisputeEntity, { id })) {
      throw alreadyExists('DISPUTE_ALREADY_EXISTS', 'a dispute with this id already exists');
    }
    const rows = await tx.lock(
      RefundCaseEntity,
      { paymentIntentId: payment.id },
      { orderBy: { requestedAt: 'asc', id: 'asc' } },
    );
    requireDisputable(rows);
    payment.saleId = disputedSale(payment, request.saleId?.toLowerCase());
    const lost = await tx.find(DisputeEntity, { paymentIntentId: payment.id, outcome: 'LOST' });
    const saleId = heldSaleOf(payment, lost);
    const dispute = tx.create(DisputeEntity, {
      id,
      paymentIntentId: payment.id,
      saleId,
      amountMinor: disputedAmount(payment, request.amountMinor),
      reason,
      openedAt: at,
      dueAt,
      responseText: null,
      respondedAt: null,
      responseSubmittedAt: null,
      evidenceCount: 0,
      closedAt: null,
      outcome: null,
      lostMinor: null,
      reversedAt: null,
    });
    await publishDisputeEvent(tx, dispute, 'dispute.opened.v1', at);
    tx.logStep('a dispute was opened', { disputeId: id, paymentIntentId: payment.id, saleId, reason });
    const open = rows.filter((row) => !isClosed(row));
    for (const row of open) await storeChange(tx, row, blockDisputed(row, at));
    if (saleId !== null) await tx.command(disputeHold.startCommand({ ...tx.tenant, disputeId: id }));
    // No mail about the sandbox.
    const noticeAt = tx.tenant.environment === 'live' ? dueNoticeAt(at, dueAt, noticeMs, new Date()) : null;
    if (noticeAt) {
      const quietUntil = noticeAt.toISOString();
      const notice = { ...tx.tenant, kind: 'DISPUTE_DUE', subjectId: id, quietUntil } as const;
      await tx.command(notifyContact.startCommand(notice));
    }
    return { refundCases: open.map(storedRefundCaseMessage), dispute: storedDisputeMessage(dispute) };
  });
}
