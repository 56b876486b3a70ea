import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
  type AdvanceService,
  PayoutAnswer,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockReason, type FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  MerchantDecisionKind,
  RefundBlocker,
  type RefundCase,
  type RefundCaseService,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { OutcomeKind } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { pagesOf } from '../../services/platform/rpc/pages-of.ts';
import type { TenantFields } from '../../services/platform/tenant.ts';
import { lastOpenBlockAt } from './open-blocks.ts';

/**
 * The outcomes that merchants are notified of: a refund awaits the balance, failed or was reviewed; refunds await the
 * merchant's verification or an active account; a dispute ended; an advance was refused or is not paid; funds are held.
 */
export type Outcome =
  | 'REFUND_UNFUNDED'
  | 'REFUND_FAILED'
  | 'REFUND_APPROVED'
  | 'REFUND_REJECTED'
  | 'REFUND_CANCELED'
  | 'REFUND_WITHDRAWN'
  | 'REFUNDS_UNVERIFIED'
  | 'REFUNDS_INACTIVE'
  | 'DISPUTE_WON'
  | 'DISPUTE_LOST'
  | 'DISPUTE_LOST_REST'
  | 'DISPUTE_REVERSED'
  | 'ADVANCE_REFUSED'
  | 'PAYOUT_RETURNED'
  | 'PAYOUT_DELAYED'
  | 'FUNDS_HELD';

/** The outcome of a refund, a dispute, an advance, or the merchant's refunds or funds. */
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

const SETTLED_BY_MERCHANT = new Set([RefundBlocker.KYC_NOT_APPROVED, RefundBlocker.MERCHANT_NOT_ACTIVE]);
const REFUND_STATUSES = {
  REFUND_UNFUNDED: RefundCaseStatus.FUNDING_REQUIRED,
  REFUND_FAILED: RefundCaseStatus.FAILED,
} as const;

/** A refund that the balance does not cover, or that failed at the provider or was returned; otherwise undefined. */
export async function findRefundOutcome(
  refunds: Client<typeof RefundCaseService>,
  tenant: TenantFields,
  refundCaseId: string,
  kind: keyof typeof REFUND_STATUSES,
): Promise<OutcomeSubject | undefined> {
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
  if (refundCase?.status !== REFUND_STATUSES[kind]) return undefined;
  return {
    kind,
    outcome: kind,
    amountMinor: refundCase.amountMinor,
    path: `refunds/${refundCase.id}`,
    happenedAt: timestampDate(refundCase.updatedAt!),
  };
}

/** A refund that a review rejected, that was canceled, or that the merchant contested and that was approved; otherwise undefined. */
export async function findReviewedRefund(
  refunds: Client<typeof RefundCaseService>,
  tenant: TenantFields,
  refundCaseId: string,
): Promise<OutcomeSubject | undefined> {
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
  if (!refundCase) return undefined;
  const { id, status, amountMinor, updatedAt, merchantDecision } = refundCase;
  const about = { kind: 'REFUND_REVIEWED', amountMinor, path: `refunds/${id}` } as const;
  if (status === RefundCaseStatus.REJECTED) {
    return { ...about, outcome: 'REFUND_REJECTED', happenedAt: timestampDate(updatedAt!) };
  }
  const isContested = merchantDecision?.decision === MerchantDecisionKind.CONTESTED;
  if (status === RefundCaseStatus.CANCELED) {
    const outcome = isContested ? 'REFUND_CANCELED' : 'REFUND_WITHDRAWN';
    return { ...about, outcome, happenedAt: timestampDate(updatedAt!) };
  }
  if (!isContested || status === RefundCaseStatus.SERVICE_REVIEW) return undefined;
  // A time that does not change while the case is executed.
  const happenedAt = timestampDate(merchantDecision.decidedAt!);
  return { ...about, outcome: 'REFUND_APPROVED', happenedAt };
}

/**
 * Approved refunds that the merchant's verification or account blocks; undefined if there are none. The last one identifies
 * the occasion, and says what blocks.
 */
export async function findBlockedRefunds(
  refunds: Client<typeof RefundCaseService>,
  tenant: TenantFields,
): Promise<OutcomeSubject | undefined> {
  let last: RefundCase | undefined;
  const blocked = { ...tenant, blockedOnly: true };
  for await (const { refundCases } of pagesOf((page) => refunds.listRefundCases({ ...blocked, ...page }))) {
    for (const each of refundCases) {
      const isLater = !last || timestampMs(each.updatedAt!) > timestampMs(last.updatedAt!);
      if (isLater && each.blockedBy.some((blocker) => SETTLED_BY_MERCHANT.has(blocker))) last = each;
    }
  }
  return (
    last && {
      kind: 'REFUNDS_BLOCKED',
      outcome: last.blockedBy.includes(RefundBlocker.KYC_NOT_APPROVED)
        ? 'REFUNDS_UNVERIFIED'
        : 'REFUNDS_INACTIVE',
      amountMinor: undefined,
      path: 'refunds?status=BLOCKED',
      happenedAt: timestampDate(last.updatedAt!),
    }
  );
}

/** A closed dispute, or one whose loss was reversed; undefined while it is open. */
export async function findEndedDispute(
  refunds: Client<typeof RefundCaseService>,
  tenant: TenantFields,
  disputeId: string,
): Promise<OutcomeSubject | undefined> {
  const { dispute } = await refunds.getDispute({ ...tenant, disputeId });
  const at = dispute?.reversedAt ?? dispute?.closedAt;
  if (!dispute || !at) return undefined;
  const outcome = disputeOutcome(dispute);
  const { amountMinor, lostAmountMinor } = dispute;
  return {
    kind: 'DISPUTE_ENDED',
    outcome,
    // Only funds know how much of it is deducted.
    amountMinor: outcome === 'DISPUTE_LOST' ? amountMinor : (lostAmountMinor ?? amountMinor),
    path: `disputes/${dispute.id}`,
    happenedAt: timestampDate(at),
  };
}

function disputeOutcome({ outcome, amountMinor }: Dispute): Outcome {
  if (outcome === DisputeOutcome.REVERSED) return 'DISPUTE_REVERSED';
  if (outcome !== DisputeOutcome.LOST) return 'DISPUTE_WON';
  return amountMinor === undefined ? 'DISPUTE_LOST_REST' : 'DISPUTE_LOST';
}

type Advances = Client<typeof AdvanceService>;

/** A refused advance; otherwise undefined. */
export async function findRefusedAdvance(
  advances: Advances,
  tenant: TenantFields,
  advanceRequestId: string,
): Promise<OutcomeSubject | undefined> {
  const { advanceRequest } = await advances.getAdvanceRequest({ ...tenant, advanceRequestId });
  if (advanceRequest?.status !== AdvanceRequestStatus.REFUSED) return undefined;
  const { amountMinor, reviewedAt } = advanceRequest;
  return {
    kind: 'ADVANCE_REFUSED',
    outcome: 'ADVANCE_REFUSED',
    amountMinor,
    ...at(advanceRequest, reviewedAt),
  };
}

/** An advance whose payout was submitted and is not accepted, or was returned; otherwise undefined. */
export async function findUnpaidAdvance(
  advances: Advances,
  tenant: TenantFields,
  advanceRequestId: string,
): Promise<OutcomeSubject | undefined> {
  const { advanceRequest } = await advances.getAdvanceRequest({ ...tenant, advanceRequestId });
  const payout = advanceRequest?.payout;
  if (!payout || payout.acceptedAt) return undefined;
  const { netAmountMinor: amountMinor, releasedAt } = advanceRequest;
  const isReturned = payout.lastAnswer === PayoutAnswer.RETURNED;
  return {
    kind: 'ADVANCE_UNPAID',
    outcome: isReturned ? 'PAYOUT_RETURNED' : 'PAYOUT_DELAYED',
    amountMinor,
    // The last answer to a delayed payout would change with every attempt, so the release identifies the occasion.
    ...at(advanceRequest, isReturned ? payout.lastAnswerAt : releasedAt),
  };
}

const at = ({ id }: AdvanceRequest, happenedAt: Timestamp | undefined) => ({
  path: `advances/${id}`,
  happenedAt: timestampDate(happenedAt!),
});

/** Funds held until the merchant is verified; undefined if there are none. The last hold identifies the occasion. */
export async function findHeldFunds(
  funds: Client<typeof FundsService>,
  tenant: TenantFields,
): Promise<OutcomeSubject | undefined> {
  const happenedAt = await lastOpenBlockAt(funds, tenant, BlockReason.KYC_PENDING);
  if (!happenedAt) return undefined;
  return { kind: 'FUNDS_HELD', outcome: 'FUNDS_HELD', amountMinor: undefined, path: 'funds', happenedAt };
}
