import { BlockOutcome, BlockReason } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  type RefundCase,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as disputeHold from '../../services/contracts/refunds/dispute-hold.contract.ts';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import * as refundHold from '../../services/contracts/refunds/refund-hold.contract.ts';
import * as refundReversal from '../../services/contracts/refunds/refund-reversal.contract.ts';
import { unlessRefused } from '../../services/platform/rpc/connect-errors.ts';
import { type TenantFields, tenantFields } from '../../services/platform/tenant.ts';
import { caseFields, isClosed, type RefundClients, readCase } from './refund-clients.ts';

type HoldResult = refundHold.HoldResult;

/** A hold on a sale's funds; without an amount, on the rest of the sale. */
interface Hold {
  readonly idempotencyKey: string;
  readonly saleId: string;
  readonly reason: BlockReason;
  readonly sourceId: string;
  readonly amountMinor: bigint | undefined;
}

interface HoldEnd {
  readonly idempotencyKey: string;
  readonly outcome: BlockOutcome;
  readonly lostAmountMinor?: bigint | undefined;
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
    async holdForRefund(input: RefundCaseKey): Promise<HoldResult> {
      const refundCase = await readCase(clients, input);
      const { saleId, status } = refundCase;
      if (saleId === undefined || isClosed(status)) return 'ENDED';
      return hold(funds, tenantFields(input), refundHoldOn(saleId, refundCase));
    },

    /**
     * Releases what a closed case holds: its sale's funds, its place in the funding queue, and a debit that was made just
     * before the case was closed without it. Later debits are refused.
     */
    async endHoldForRefund(input: RefundCaseKey): Promise<HoldResult> {
      const refundCase = await readCase(clients, input);
      const { id, status, saleId, executions } = refundCase;
      if (!isClosed(status)) return 'HELD';
      const idempotencyKey = refundHold.endWorkflowId(id);
      const isUndone = status !== RefundCaseStatus.SUCCEEDED;
      if (isUndone) {
        const execution = Math.max(executions, 1);
        await funds.endRefundExecutions({ ...caseFields(input), idempotencyKey, execution });
      }
      if (saleId !== undefined) {
        const ending = { idempotencyKey, outcome: BlockOutcome.RETURNED };
        await end(funds, tenantFields(input), refundHoldOn(saleId, refundCase), ending);
      }
      // The hold would take what returns.
      if (isUndone) await reverseLiveDebit(funds, input);
      return 'ENDED';
    },

    /** Holds the disputed amount of the sale, by default the rest of the sale. */
    async holdForDispute(input: disputeHold.DisputeHoldInput): Promise<HoldResult> {
      const dispute = await disputeOf(clients, input);
      const { saleId, closedAt } = dispute;
      if (saleId === undefined || closedAt) return 'ENDED';
      return hold(funds, tenantFields(input), disputeHoldOn(saleId, dispute));
    },

    /**
     * Releases the funds that a closed dispute holds. If it was lost, deducts them instead, and from other funds
     * what the sale could not provide; the rest becomes a debt: the customer received the full amount.
     */
    async endHoldForDispute(input: disputeHold.DisputeHoldInput): Promise<HoldResult> {
      const dispute = await disputeOf(clients, input);
      const { id, saleId, closedAt, reversedAt, lostAmountMinor } = dispute;
      if (!closedAt) return 'HELD';
      // A reversal ends the hold itself.
      if (reversedAt) return 'ENDED';
      if (saleId === undefined) return endWithoutSale(funds, input, dispute);
      const isLost = dispute.outcome === DisputeOutcome.LOST;
      const outcome = isLost ? BlockOutcome.CONSUMED : BlockOutcome.RETURNED;
      const ending = { idempotencyKey: disputeHold.endWorkflowId(id), outcome, lostAmountMinor };
      return end(funds, tenantFields(input), disputeHoldOn(saleId, dispute), ending);
    },

    /**
     * Reverses the deductions for a reversed dispute, and blocks later ones. First ends its hold, even one that has not
     * arrived yet, so that ending it deducts nothing afterwards.
     */
    async restoreForDispute(input: disputeHold.DisputeHoldInput): Promise<void> {
      const dispute = await disputeOf(clients, input);
      const { id: sourceId, saleId, reversedAt } = dispute;
      if (!reversedAt) throw new TypeError('the dispute was not reversed');
      const tenant = tenantFields(input);
      const idempotencyKey = disputeHold.reversalWorkflowId(sourceId);
      if (saleId !== undefined) {
        const ending = { idempotencyKey, outcome: BlockOutcome.RETURNED };
        await end(funds, tenant, disputeHoldOn(saleId, dispute), ending);
      }
      await funds.reverseDeduction({ ...tenant, sourceId, idempotencyKey });
    },
  };
}

/** Lifts the hold of a refund, if it has arrived. */
export async function liftRefundHold(
  funds: RefundClients['funds'],
  tenant: TenantFields,
  { id: sourceId, saleId }: RefundCase,
  idempotencyKey: string,
): Promise<void> {
  if (saleId === undefined) return;
  const ending = { reason: BlockReason.REFUND_IN_PROGRESS, outcome: BlockOutcome.RETURNED, idempotencyKey };
  const unblocking = funds.unblockFunds({ ...tenant, saleId, sourceId, ...ending });
  await unlessRefused(unblocking, { BLOCK_NOT_FOUND: undefined });
}

function refundHoldOn(saleId: string, { id, amountMinor }: RefundCase): Hold {
  const idempotencyKey = refundHold.workflowId(id);
  return { idempotencyKey, saleId, sourceId: id, amountMinor, reason: BlockReason.REFUND_IN_PROGRESS };
}

function disputeHoldOn(saleId: string, { id, amountMinor }: Dispute): Hold {
  const idempotencyKey = disputeHold.workflowId(id);
  return { idempotencyKey, saleId, sourceId: id, amountMinor, reason: BlockReason.HOLD_OR_DISPUTE };
}

async function hold(funds: RefundClients['funds'], tenant: TenantFields, block: Hold): Promise<HoldResult> {
  await funds.blockFunds({ ...tenant, ...block, once: true });
  return 'HELD';
}

/** Ends a hold, also one that has not arrived yet. */
async function end(
  funds: RefundClients['funds'],
  tenant: TenantFields,
  held: Hold,
  ending: HoldEnd,
): Promise<HoldResult> {
  await hold(funds, tenant, held);
  const { saleId, reason, sourceId } = held;
  const deductUnmet = ending.outcome === BlockOutcome.CONSUMED;
  const unblocking = funds.unblockFunds({ ...tenant, saleId, reason, sourceId, ...ending, deductUnmet });
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
async function reverseLiveDebit(funds: RefundClients['funds'], input: RefundCaseKey): Promise<void> {
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
