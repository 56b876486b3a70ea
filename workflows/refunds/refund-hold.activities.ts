import { BlockOutcome, BlockReason } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as disputeHold from '../../services/contracts/refunds/dispute-hold.contract.ts';
import * as refundHold from '../../services/contracts/refunds/refund-hold.contract.ts';
import * as refundReversal from '../../services/contracts/refunds/refund-reversal.contract.ts';
import { unlessRefused } from '../../services/platform/rpc/connect-errors.ts';
import { type TenantFields, tenantFields } from '../../services/platform/tenant.ts';
import { caseFields, isClosed, type RefundClients, readCase } from './refund-clients.ts';

type HoldResult = refundHold.HoldResult;

/** A hold on a sale's funds; without an amount, on the rest of the sale. */
interface Hold {
  readonly saleId: string;
  readonly reason: BlockReason;
  readonly sourceId: string;
  readonly amountMinor: bigint | undefined;
}

/**
 * The activities that hold a sale's funds while a refund case or a dispute is open. The start and the end of a hold
 * arrive as separate commands, in any order: the end first creates the hold with the same idempotency key, so a start
 * that arrives after it has no effect.
 */
export function createHoldActivities(clients: RefundClients) {
  const { funds } = clients;

  return {
    /** Holds the amount of an open case in its sale's funds. */
    async holdForRefund(input: refundHold.RefundHoldInput): Promise<HoldResult> {
      const { status, saleId, id: sourceId, amountMinor } = await readCase(clients, input);
      if (saleId === undefined || isClosed(status)) return 'ENDED';
      const block = { saleId, sourceId, amountMinor, reason: BlockReason.REFUND_IN_PROGRESS };
      return hold(funds, tenantFields(input), refundHold.workflowId(sourceId), block);
    },

    /**
     * Releases what a closed case holds: its sale's funds, its place in the funding queue, and a debit that was made just
     * before the case was closed without it. Later debits are refused.
     */
    async endHoldForRefund(input: refundHold.RefundHoldInput): Promise<HoldResult> {
      const { status, saleId, id: sourceId, executions, amountMinor } = await readCase(clients, input);
      if (!isClosed(status)) return 'HELD';
      const keys = { hold: refundHold.workflowId(sourceId), end: refundHold.endWorkflowId(sourceId) };
      if (status !== RefundCaseStatus.SUCCEEDED) {
        const execution = Math.max(executions, 1);
        const ended = { ...caseFields(input), idempotencyKey: keys.end, execution };
        await funds.endRefundExecutions(ended);
        await reverseLiveDebit(funds, input);
      }
      if (saleId === undefined) return 'ENDED';
      const block = { saleId, sourceId, amountMinor, reason: BlockReason.REFUND_IN_PROGRESS };
      return end(funds, tenantFields(input), keys, block, { outcome: BlockOutcome.RETURNED });
    },

    /** Holds the disputed amount of the sale, by default the rest of the sale. */
    async holdForDispute(input: disputeHold.DisputeHoldInput): Promise<HoldResult> {
      const { saleId, closedAt, id: sourceId, amountMinor } = await disputeOf(clients, input);
      if (saleId === undefined || closedAt) return 'ENDED';
      const block = { saleId, sourceId, amountMinor, reason: BlockReason.HOLD_OR_DISPUTE };
      return hold(funds, tenantFields(input), disputeHold.workflowId(sourceId), block);
    },

    /**
     * Releases the funds that a closed dispute holds. If it was lost, deducts them instead, and from other funds
     * what the sale could not provide; the rest becomes a debt: the customer received the full amount.
     */
    async endHoldForDispute(input: disputeHold.DisputeHoldInput): Promise<HoldResult> {
      const dispute = await disputeOf(clients, input);
      const { saleId, closedAt, id: sourceId, amountMinor, lostAmountMinor } = dispute;
      if (!closedAt) return 'HELD';
      const lost = dispute.outcome === DisputeOutcome.LOST;
      // A reversal ends the hold itself.
      if (dispute.reversedAt) return 'ENDED';
      if (saleId === undefined) return endWithoutSale(funds, input, dispute);
      const keys = { hold: disputeHold.workflowId(sourceId), end: disputeHold.endWorkflowId(sourceId) };
      const block = { saleId, sourceId, amountMinor, reason: BlockReason.HOLD_OR_DISPUTE };
      const outcome = lost ? BlockOutcome.CONSUMED : BlockOutcome.RETURNED;
      return end(funds, tenantFields(input), keys, block, { outcome, lostAmountMinor });
    },

    /**
     * Reverses the deductions for a reversed dispute, and blocks later ones. First ends its hold, even one that has not
     * arrived yet, so that ending it deducts nothing afterwards.
     */
    async restoreForDispute(input: disputeHold.DisputeHoldInput): Promise<void> {
      const { saleId, id: sourceId, amountMinor, reversedAt } = await disputeOf(clients, input);
      if (!reversedAt) throw new TypeError('the dispute was not reversed');
      const tenant = tenantFields(input);
      const idempotencyKey = disputeHold.reversalWorkflowId(sourceId);
      if (saleId !== undefined) {
        const keys = { hold: disputeHold.workflowId(sourceId), end: idempotencyKey };
        const block = { saleId, sourceId, amountMinor, reason: BlockReason.HOLD_OR_DISPUTE };
        await end(funds, tenant, keys, block, { outcome: BlockOutcome.RETURNED });
      }
      await funds.reverseDeduction({ ...tenant, sourceId, idempotencyKey });
    },
  };
}

async function hold(
  funds: RefundClients['funds'],
  tenant: TenantFields,
  idempotencyKey: string,
  block: Hold,
): Promise<HoldResult> {
  await funds.blockFunds({ ...tenant, ...block, idempotencyKey, once: true });
  return 'HELD';
}

/** Ends a hold, also one that has not arrived yet. */
async function end(
  funds: RefundClients['funds'],
  tenant: TenantFields,
  keys: { readonly hold: string; readonly end: string },
  held: Hold,
  ending: { readonly outcome: BlockOutcome; readonly lostAmountMinor?: bigint | undefined },
): Promise<HoldResult> {
  await hold(funds, tenant, keys.hold, held);
  const { amountMinor: _, ...block } = held;
  const lifted = { ...block, ...ending, deductUnmet: ending.outcome === BlockOutcome.CONSUMED };
  const unblocking = funds.unblockFunds({ ...tenant, ...lifted, idempotencyKey: keys.end });
  const refused = { BLOCK_NOT_FOUND: 'ENDED_BEFORE', SALE_NOT_RECORDED: 'NOT_YET' } as const;
  const unblocked = await unlessRefused(unblocking, refused);
  // The refusal itself would not be retried.
  if (unblocked === 'NOT_YET') throw new Error('the sale of the lost dispute is not recorded yet');
  return 'ENDED';
}

async function disputeOf({ refunds }: RefundClients, input: disputeHold.DisputeHoldInput): Promise<Dispute> {
  const { disputeId } = input;
  const { dispute } = await refunds.getDispute({ ...tenantFields(input), disputeId });
  if (!dispute) throw new TypeError('the response contains no dispute');
  return dispute;
}

/** Reverses the debit of a refund, if there is one. */
async function reverseLiveDebit(
  funds: RefundClients['funds'],
  input: refundHold.RefundHoldInput,
): Promise<void> {
  const idempotencyKey = refundReversal.workflowId(input.refundCaseId);
  const reversed = funds.reverseRefundDebit({ ...caseFields(input), idempotencyKey });
  await unlessRefused(reversed, { REFUND_DEBIT_NOT_FOUND: undefined });
}

/**
 * Deducts a lost dispute of a payment without a known sale, once. More may be deducted later, when a refund is
 * returned.
 */
async function endWithoutSale(
  funds: RefundClients['funds'],
  input: disputeHold.DisputeHoldInput,
  dispute: Dispute,
): Promise<HoldResult> {
  const { disputeId: sourceId } = input;
  const { lostAmountMinor: amountMinor = dispute.amountMinor ?? 0n } = dispute;
  if (dispute.outcome !== DisputeOutcome.LOST || amountMinor === 0n) return 'ENDED';
  const idempotencyKey = `${disputeHold.endWorkflowId(sourceId)}-${amountMinor}`;
  const deduction = { sourceId, amountMinor, raise: true };
  const applied = funds.applyDeduction({ ...tenantFields(input), ...deduction, idempotencyKey });
  // Also when the dispute was reversed meanwhile.
  await unlessRefused(applied, { DEDUCTION_ALREADY_APPLIED: undefined, DEDUCTION_REVERSED: undefined });
  return 'ENDED';
}
