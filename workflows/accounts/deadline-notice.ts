import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type Dispute,
  type RefundCase,
  RefundCaseOrder,
  type RefundCaseService,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { pagesOf } from '../../services/platform/rpc/pages-of.ts';
import type { TenantFields } from '../../services/platform/tenant.ts';

/** What is due soon. `happenedAt` identifies the occasion; each gets one mail. */
export type DeadlineSubject = { readonly happenedAt: Date } & (
  | { readonly kind: 'REFUND_DEADLINES'; readonly refundCases: readonly RefundCase[] }
  | { readonly kind: 'DISPUTE_DUE'; readonly dispute: Dispute }
);

type Refunds = Client<typeof RefundCaseService>;

/** The undecided refund cases whose deadline has been announced, earliest first; undefined when there are none. */
export async function findDueRefunds(
  refunds: Refunds,
  tenant: TenantFields,
): Promise<DeadlineSubject | undefined> {
  const refundCases = (await listAnnounced(refunds, tenant)).filter(({ merchantReviewDeadlineAt: at }) =>
    isAhead(at),
  );
  const announcedMs = refundCases.map(({ deadlineNotifiedAt }) => timestampMs(deadlineNotifiedAt!));
  if (announcedMs.length === 0) return undefined;
  return { kind: 'REFUND_DEADLINES', refundCases, happenedAt: new Date(Math.max(...announcedMs)) };
}

/** Reads pages up to one whose last deadline has not been announced: later ones are announced later. */
async function listAnnounced(refunds: Refunds, tenant: TenantFields): Promise<RefundCase[]> {
  const byDeadline = { ...tenant, order: RefundCaseOrder.REVIEW_DEADLINE };
  const announced: RefundCase[] = [];
  for await (const { refundCases } of pagesOf((page) =>
    refunds.listRefundCases({ ...byDeadline, ...page }),
  )) {
    announced.push(...refundCases.filter(({ deadlineNotifiedAt }) => deadlineNotifiedAt));
    if (!refundCases.at(-1)?.deadlineNotifiedAt) break;
  }
  return announced;
}

/** A dispute that still awaits the merchant's response, with or without a due date; undefined otherwise. */
export async function findDueDispute(
  refunds: Refunds,
  tenant: TenantFields,
  disputeId: string,
): Promise<DeadlineSubject | undefined> {
  const { dispute } = await refunds.getDispute({ ...tenant, disputeId });
  if (!dispute || dispute.closedAt || dispute.response) return undefined;
  const { dueAt, openedAt } = dispute;
  if (dueAt && !isAhead(dueAt)) return undefined;
  return { kind: 'DISPUTE_DUE', dispute, happenedAt: timestampDate(dueAt ?? openedAt!) };
}

const isAhead = (at: Timestamp | undefined) => at !== undefined && timestampMs(at) > Date.now();
