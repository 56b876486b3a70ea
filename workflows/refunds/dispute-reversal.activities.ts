import { BlockOutcome, BlockReason } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import * as disputeHold from '../../services/contracts/refunds/dispute-hold.contract.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { tenantFields } from '../../services/platform/tenant.ts';
import { CALL, type RefundClients } from './refund-clients.ts';

/** The activity that restores what a reversed dispute took. */
export function createReversalActivities({ refunds, funds }: RefundClients) {
  /** Lifts the dispute's block, also one that has not arrived yet, so that its end deducts nothing afterwards. */
  async function liftHold(
    tenant: ReturnType<typeof tenantFields>,
    block: { readonly saleId: string; readonly sourceId: string; readonly amountMinor: bigint | undefined },
  ): Promise<void> {
    const { saleId, sourceId } = block;
    const reason = BlockReason.HOLD_OR_DISPUTE;
    const hold = {
      ...tenant,
      ...block,
      reason,
      once: true,
      idempotencyKey: disputeHold.workflowId(sourceId),
    };
    await funds.blockFunds(hold, CALL);
    const idempotencyKey = disputeHold.reversalWorkflowId(sourceId);
    const lifted = { saleId, sourceId, reason, outcome: BlockOutcome.RETURNED, idempotencyKey };
    try {
      await funds.unblockFunds({ ...tenant, ...lifted }, CALL);
    } catch (error) {
      if (errorInfoOf(error)?.reason !== 'BLOCK_NOT_FOUND') throw error;
    }
  }

  return {
    /** Restores what a reversed dispute took, and keeps it from taking anything later. */
    async restoreForDispute(input: disputeHold.DisputeHoldInput): Promise<void> {
      const tenant = tenantFields(input);
      const { disputeId: sourceId } = input;
      const { dispute } = await refunds.getDispute({ ...tenant, disputeId: sourceId }, CALL);
      if (!dispute?.reversedAt) throw new TypeError('the dispute was not reversed');
      const { saleId, amountMinor } = dispute;
      if (saleId !== undefined) await liftHold(tenant, { saleId, sourceId, amountMinor });
      const idempotencyKey = disputeHold.reversalWorkflowId(sourceId);
      await funds.reverseDeduction({ ...tenant, sourceId, idempotencyKey }, CALL);
    },
  };
}
