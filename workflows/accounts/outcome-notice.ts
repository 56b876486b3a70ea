import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
  type AdvanceService,
  PayoutAnswer,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockReason, type FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Environment, RecordPosition } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DisputeOutcome,
  MerchantDecisionKind,
  type RefundCaseService,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { OutcomeKind } from '../../services/contracts/accounts/notify-contact.contract.ts';

/**
 * That a refund awaits the balance, failed or was decided after a review, how a dispute ended, why an advance is not paid, or
 * that funds are held.
 */
export type Outcome =
  | 'REFUND_UNFUNDED'
  | 'REFUND_FAILED'
  | 'REFUND_APPROVED'
  | 'REFUND_REJECTED'
  | 'DISPUTE_WON'
  | 'DISPUTE_LOST'
  | 'DISPUTE_REVERSED'
  | 'ADVANCE_REFUSED'
  | 'PAYOUT_RETURNED'
  | 'PAYOUT_DELAYED'
  | 'FUNDS_HELD';

/** What became of a refund, a dispute, an advance, or the merchant's funds. */
export interface OutcomeSubject {
  readonly kind: OutcomeKind;
  readonly outcome: Outcome;
  /** In centavos; undefined if it is not known. */
  readonly amountMinor: bigint | undefined;
  /** Its page, below the merchant's. */
  readonly path: string;
  /** When it happened; identifies the occasion. */
  readonly happenedAt: Date;
}

type Tenant = { readonly merchantId: string; readonly environment: Environment };

const CALL = { timeoutMs: 10_000 };

const REFUND_STATUSES = {
  REFUND_UNFUNDED: RefundCaseStatus.FUNDING_REQUIRED,
  REFUND_FAILED: RefundCaseStatus.FAILED,
} as const;

/** That the balance does not cover a refund, or that the provider failed or returned it; undefined otherwise. */
export async function findRefundOutcome(
  refunds: Client<typeof RefundCaseService>,
  tenant: Tenant,
  refundCaseId: string,
  kind: keyof typeof REFUND_STATUSES,
): Promise<OutcomeSubject | undefined> {
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId }, CALL);
  if (refundCase?.status !== REFUND_STATUSES[kind]) return undefined;
  return {
    kind,
    outcome: kind,
    amountMinor: refundCase.amountMinor,
    path: `refunds/${refundCase.id}`,
    happenedAt: timestampDate(refundCase.updatedAt!),
  };
}

/** That a refund was rejected, or approved although the merchant contested it; undefined otherwise. */
export async function findReviewedRefund(
  refunds: Client<typeof RefundCaseService>,
  tenant: Tenant,
  refundCaseId: string,
): Promise<OutcomeSubject | undefined> {
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId }, CALL);
  if (!refundCase) return undefined;
  const { id, status, amountMinor, updatedAt, merchantDecision } = refundCase;
  const about = { kind: 'REFUND_REVIEWED', amountMinor, path: `refunds/${id}` } as const;
  if (status === RefundCaseStatus.REJECTED) {
    return { ...about, outcome: 'REFUND_REJECTED', happenedAt: timestampDate(updatedAt!) };
  }
  const isApproved = status !== RefundCaseStatus.SERVICE_REVIEW && status !== RefundCaseStatus.CANCELED;
  if (!isApproved || merchantDecision?.decision !== MerchantDecisionKind.CONTESTED) return undefined;
  // The case goes on changing while it is executed.
  const happenedAt = timestampDate(merchantDecision.decidedAt!);
  return { ...about, outcome: 'REFUND_APPROVED', happenedAt };
}

/** How a dispute was closed, or that its loss was reversed; undefined while it is open. */
export async function findEndedDispute(
  refunds: Client<typeof RefundCaseService>,
  tenant: Tenant,
  disputeId: string,
): Promise<OutcomeSubject | undefined> {
  const { dispute } = await refunds.getDispute({ ...tenant, disputeId }, CALL);
  const at = dispute?.reversedAt ?? dispute?.closedAt;
  if (!dispute || !at) return undefined;
  return {
    kind: 'DISPUTE_ENDED',
    outcome: disputeOutcome(dispute.outcome),
    amountMinor: dispute.lostAmountMinor ?? dispute.amountMinor,
    path: `disputes/${dispute.id}`,
    happenedAt: timestampDate(at),
  };
}

function disputeOutcome(outcome: DisputeOutcome): Outcome {
  if (outcome === DisputeOutcome.REVERSED) return 'DISPUTE_REVERSED';
  return outcome === DisputeOutcome.LOST ? 'DISPUTE_LOST' : 'DISPUTE_WON';
}

type Advances = Client<typeof AdvanceService>;

/** That an advance was refused; undefined otherwise. */
export async function findRefusedAdvance(
  advances: Advances,
  tenant: Tenant,
  advanceRequestId: string,
): Promise<OutcomeSubject | undefined> {
  const { advanceRequest } = await advances.getAdvanceRequest({ ...tenant, advanceRequestId }, CALL);
  if (advanceRequest?.status !== AdvanceRequestStatus.REFUSED) return undefined;
  const { amountMinor, reviewedAt } = advanceRequest;
  return {
    kind: 'ADVANCE_REFUSED',
    outcome: 'ADVANCE_REFUSED',
    amountMinor,
    ...at(advanceRequest, reviewedAt),
  };
}

/** That the payout of an advance was submitted and is not accepted, or was returned; undefined otherwise. */
export async function findUnpaidAdvance(
  advances: Advances,
  tenant: Tenant,
  advanceRequestId: string,
): Promise<OutcomeSubject | undefined> {
  const { advanceRequest } = await advances.getAdvanceRequest({ ...tenant, advanceRequestId }, CALL);
  const payout = advanceRequest?.payout;
  if (!payout || payout.acceptedAt) return undefined;
  const { netAmountMinor: amountMinor, releasedAt } = advanceRequest;
  const isReturned = payout.lastAnswer === PayoutAnswer.RETURNED;
  return {
    kind: 'ADVANCE_UNPAID',
    outcome: isReturned ? 'PAYOUT_RETURNED' : 'PAYOUT_DELAYED',
    amountMinor,
    // Of a delay, the last answer would change with every attempt.
    ...at(advanceRequest, isReturned ? payout.lastAnswerAt : releasedAt),
  };
}

const at = ({ id }: AdvanceRequest, happenedAt: Timestamp | undefined) => ({
  path: `advances/${id}`,
  happenedAt: timestampDate(happenedAt!),
});

/** That funds are held until the merchant is verified, since the first of them; undefined if none are. */
export async function findHeldFunds(
  funds: Client<typeof FundsService>,
  tenant: Tenant,
): Promise<OutcomeSubject | undefined> {
  let firstMs = Number.POSITIVE_INFINITY;
  let after: RecordPosition | undefined;
  do {
    const page = { ...tenant, reason: BlockReason.KYC_PENDING, ...(after && { after }) };
    const { blocks, next } = await funds.scanOpenBlocks(page, CALL);
    for (const { openedAt } of blocks) firstMs = Math.min(firstMs, timestampMs(openedAt!));
    after = next;
  } while (after);
  if (firstMs === Number.POSITIVE_INFINITY) return undefined;
  const amountMinor = undefined;
  return {
    kind: 'FUNDS_HELD',
    outcome: 'FUNDS_HELD',
    amountMinor,
    path: 'funds',
    happenedAt: new Date(firstMs),
  };
}
