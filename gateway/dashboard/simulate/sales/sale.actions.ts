import { Type } from 'typebox';
import { BlockOutcome, BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { DisputeOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Pages } from '../../shell/pages.ts';
import type { View } from '../../shell/view.ts';
import { IN_SANDBOX, redirectWithOutcome } from '../sandbox.ts';
import { disputeTerms, paymentOf } from '../simulated-facts.ts';

/** Without REFUND_IN_PROGRESS, which refunds set themselves. */
export const BLOCK_REASONS = ['HOLD_OR_DISPUTE', 'KYC_PENDING', 'COMPLIANCE_HOLD'] as const;
export const OUTCOMES = ['RETURNED', 'CONSUMED'] as const;

/** A step of a dispute, as the bank and the service take them. */
export type DisputeStep = 'submitted' | 'won' | 'lost' | 'reversed';

const PATH = '/simulate/sales/:saleId';
const reason = Type.Enum([...BLOCK_REASONS]);
const BlockForm = Type.Object({ reason_to_block: reason });
const UnblockForm = Type.Object({
  reason_to_unblock: reason,
  outcome: Type.Enum([...OUTCOMES]),
});

/** Blocks and unblocks the funds of a sale; the sale itself is the source of each block. */
export function blockActions(pages: Pages): void {
  pages.action(
    { ...IN_SANDBOX, path: `${PATH}/block`, form: BlockForm },
    async (view, { params, form, key }) => {
      const saleId = params.saleId!;
      const request = { idempotencyKey: key, saleId, sourceId: saleId };
      await view.clients.funds.blockFunds({ ...request, reason: BlockReason[form.reason_to_block] });
      return redirectWithOutcome(view, `/simulate/sales/${saleId}`, 'block');
    },
  );
  pages.action(
    { ...IN_SANDBOX, path: `${PATH}/unblock`, form: UnblockForm },
    async (view, { params, form, key }) => {
      const saleId = params.saleId!;
      const request = { idempotencyKey: key, saleId, sourceId: saleId };
      const unblock = { reason: BlockReason[form.reason_to_unblock], outcome: BlockOutcome[form.outcome] };
      await view.clients.funds.unblockFunds({ ...request, ...unblock });
      return redirectWithOutcome(view, `/simulate/sales/${saleId}`, 'unblock');
    },
  );
}

/** The steps of disputes of a sale's payment, with or without a refund case. */
export function saleDisputeActions(pages: Pages): void {
  pages.action({ ...IN_SANDBOX, path: `${PATH}/open-dispute` }, async (view, { params, key }) => {
    const saleId = params.saleId!;
    // A dispute may name a sale that is recorded later; one that is simulated needs its sale.
    await view.clients.funds.getSale({ saleId });
    // The form's key is the dispute's id, so that a resubmitted form opens one dispute.
    const dispute = { disputeId: key, paymentIntentId: paymentOf(saleId), saleId, ...disputeTerms() };
    await view.clients.refundCases.openDispute({ ...dispute, idempotencyKey: key });
    return redirectWithOutcome(view, `/simulate/sales/${saleId}`, 'open-dispute');
  });
  for (const [step, take] of Object.entries(DISPUTE_STEPS)) {
    const path = `${PATH}/disputes/:disputeId/${step}`;
    pages.action({ ...IN_SANDBOX, path }, async (view, { params, key }) => {
      await take(view, { disputeId: params.disputeId!, idempotencyKey: key });
      return redirectWithOutcome(view, `/simulate/sales/${params.saleId}`, step);
    });
  }
}

type DisputeWrite = { readonly disputeId: string; readonly idempotencyKey: string };

const DISPUTE_STEPS: Readonly<Record<DisputeStep, (view: View, write: DisputeWrite) => Promise<unknown>>> = {
  submitted: ({ clients }, write) => clients.refundCases.recordResponseSubmission(write),
  won: ({ clients }, write) => clients.refundCases.closeDispute({ ...write, outcome: DisputeOutcome.WON }),
  lost: ({ clients }, write) => clients.refundCases.closeDispute({ ...write, outcome: DisputeOutcome.LOST }),
  reversed: ({ clients }, write) => clients.refundCases.reverseDispute(write),
};
