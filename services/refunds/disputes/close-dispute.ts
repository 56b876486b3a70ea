import type { HandlerContext } from '@connectrpc/connect';
import {
  type CloseDisputeRequest,
  type CloseDisputeResponseSchema,
  DisputeOutcome,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notifyOfOutcome } from '../../contracts/accounts/notify-contact.contract.ts';
import * as disputeHold from '../../contracts/refunds/dispute-hold.contract.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { type SaleReads, saleAmountOf } from '../payments/refunded-sale.ts';
import { publishDisputeEvent } from '../refund-case.event.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockDisputedPayment } from '../refund-case-store.ts';
import { storedDisputeMessage } from './dispute.message.ts';
import { selectDispute } from './dispute.queries.ts';
import { requireOpen } from './dispute.ts';
import { endDispute } from './dispute-outcome.ts';
import { disputedPaymentOf } from './lost-disputes.ts';
import { unblockCovered } from './unblock-covered.ts';

interface Dependencies extends SaleReads {
  readonly writes: Writes;
}

/**
 * Closes a dispute. If it is the payment's last open one, clears PAYMENT_DISPUTED from the cases that the rest of the
 * payment covers.
 * DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_AMOUNT_DIFFERS, DISPUTE_EXCEEDS_PAYMENT, DISPUTE_AMOUNT_UNKNOWN,
 * SALE_NOT_RECORDED.
 */
export async function closeDispute(
  { writes, ...sales }: Dependencies,
  request: CloseDisputeRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const saleAmountMinor = await lostSaleAmount(sales, request, context);
  return writes.run<typeof CloseDisputeResponseSchema>(request, context, async (tx) => {
    const { dispute, payment } = await lockDisputedPayment(tx, request.disputeId);
    // First: what else the end needs was not read for a closed dispute.
    requireOpen(dispute);
    const outcome = request.outcome === DisputeOutcome.LOST ? 'LOST' : 'WON';
    const end = { outcome, amountMinor: request.amountMinor } as const;
    const disputed = await disputedPaymentOf(tx, payment, { dispute, ...end, saleAmountMinor });
    const ended = endDispute(dispute, end, disputed, at);
    Object.assign(dispute, ended);
    const lostMinor = ended.lostMinor === null ? null : String(ended.lostMinor);
    tx.logStep('a dispute was closed', { disputeId: dispute.id, outcome: ended.outcome, lostMinor });
    await publishDisputeEvent(tx, dispute, 'dispute.closed.v1', ended.closedAt);
    // A dispute without a sale holds nothing, but a loss is deducted from the merchant's other funds.
    if (dispute.saleId !== null || (ended.lostMinor ?? 0n) > 0n) {
      await tx.command(disputeHold.endCommand({ ...tx.tenant, disputeId: dispute.id }));
    }
    await notifyOfOutcome(tx, { kind: 'DISPUTE_ENDED', subjectId: dispute.id }, ended.closedAt);
    const unblocked = await unblockCovered(tx, payment, at);
    return {
      refundCases: unblocked.map(storedRefundCaseMessage),
      dispute: storedDisputeMessage(dispute),
    };
  });
}

/**
 * The captured amount of the dispute's sale or, without one, of its payment's, if the dispute is lost without an amount;
 * otherwise null, even if it is not known.
 */
async function lostSaleAmount(
  sales: SaleReads,
  request: CloseDisputeRequest,
  context: HandlerContext,
): Promise<bigint | null> {
  if (request.outcome !== DisputeOutcome.LOST || request.amountMinor !== undefined) return null;
  const { merchantId, environment, disputeId: id } = request;
  const dispute = await sales.database.readOne(selectDispute({ ...tenantOf(request), id }));
  // A closed dispute needs nothing of funds: the call is a repeated one, or refused.
  if (!dispute || dispute.closed_at !== null || dispute.amount_minor !== null) return null;
  const { sale_id, payment_intent_id: paymentIntentId } = dispute;
  const named = sale_id === null ? {} : { saleId: sale_id };
  return saleAmountOf(sales, { merchantId, environment, paymentIntentId, ...named }, context);
}
