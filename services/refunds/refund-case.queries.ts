import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database.ts';
import type { Tenant } from '../platform/tenant.ts';
import type { RefundCaseEntity } from './refund-case.entity.ts';
import type { ApprovalMode, Blocker, Initiator, MerchantDecision, RefundStatus } from './refund-case.ts';

interface RefundTables {
  'refunds.refund_case': InferKyselyTable<typeof RefundCaseEntity>;
}

/** A refund case as hot reads answer it. */
export interface RefundCaseReadRow {
  merchant_id: string;
  environment: string;
  id: string;
  payment_intent_id: string;
  amount_minor: bigint;
  status: RefundStatus;
  initiator: Initiator;
  approval_mode: ApprovalMode | null;
  blocked_by: readonly Blocker[];
  evidence_count: number;
  reason: string;
  sale_id: string | null;
  order_id: string | null;
  invoice_id: string | null;
  payment_paid_at: Timestamp | null;
  refund_window_days: number | null;
  refund_window_expires_at: Timestamp | null;
  merchant_review_deadline_at: Timestamp | null;
  merchant_decision: MerchantDecision | null;
  merchant_decided_at: Timestamp | null;
  merchant_decision_reason: string | null;
  executions: number;
  execution_started_at: Timestamp | null;
  processing_started_at: Timestamp | null;
  provider_refund_id: string | null;
  provider_submission_status: string | null;
  provider_submitted_at: Timestamp | null;
  requested_at: Timestamp;
  updated_at: Timestamp;
}

/** What a list is narrowed to; what is undefined does not narrow it. */
export interface RefundCaseFilter {
  readonly initiator: Initiator | undefined;
  readonly orderId: string | undefined;
  readonly paymentIntentId: string | undefined;
  readonly status: RefundStatus | undefined;
}

const db = queryBuilder<RefundTables>();

function refundCases({ merchantId, environment }: Tenant) {
  return db
    .selectFrom('refunds.refund_case')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('environment', '=', environment);
}

/** One refund case by its id. */
export function selectRefundCase(tenant: Tenant, id: string) {
  return refundCases(tenant).where('id', '=', id).$castTo<RefundCaseReadRow>().compile();
}

/** Refund cases newest first by (requested_at, id), after a position. */
export function selectRefundCases(
  tenant: Tenant,
  filter: RefundCaseFilter,
  after: { requestedAt: Date; id: string } | undefined,
  limit: number,
) {
  let query = refundCases(tenant);
  if (filter.initiator) query = query.where('initiator', '=', filter.initiator);
  if (filter.orderId) query = query.where('order_id', '=', filter.orderId);
  if (filter.paymentIntentId) query = query.where('payment_intent_id', '=', filter.paymentIntentId);
  if (filter.status) query = query.where('status', '=', filter.status);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('requested_at', 'id'), '<', tuple(after.requestedAt, after.id)),
    );
  }
  return query
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .$castTo<RefundCaseReadRow>()
    .compile();
}
