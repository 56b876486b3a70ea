import { createServer } from 'node:http2';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import pg from 'pg';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ApprovalMode,
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseService,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type ListedCase, SELECT_CASES } from './bare-cases.ts';
import { announcePort } from './bench-process.ts';

/**
 * The baseline of ListRefundCases: a Connect handler with one prepared statement and ten connections, for the same
 * message. No token, no validation, no page token.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

const handler = connectNodeAdapter({
  routes: (router) => {
    router.service(RefundCaseService, {
      async listRefundCases({ merchantId, pageSize }) {
        const values = [merchantId, pageSize + 1];
        const { rows } = await pool.query<ListedCase<Date>>({ name: 'list', text: SELECT_CASES, values });
        const hasMore = rows.length > pageSize;
        if (hasMore) rows.pop();
        return { refundCases: rows.map(caseMessage), nextPageToken: hasMore ? rows.at(-1)!.id : '' };
      },
    });
  },
});

const enumValue = (type: object, name: string): number => (type as Record<string, number>)[name]!;
const timestamp = (date: Date | null) => (date ? timestampFromDate(date) : undefined);

function caseMessage(row: ListedCase<Date>) {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    environment: Environment.LIVE,
    amountMinor: BigInt(row.amount_minor),
    currency: 'BRL',
    status: enumValue(RefundCaseStatus, row.status),
    initiator: enumValue(RefundInitiator, row.initiator),
    approvalMode: row.approval_mode ? enumValue(ApprovalMode, row.approval_mode) : undefined,
    blockedBy: row.blocked_by.map((blocker) => enumValue(RefundBlocker, blocker)),
    evidenceCount: row.evidence_count,
    invoiceId: row.invoice_id ?? undefined,
    orderId: row.order_id ?? undefined,
    paymentIntentId: row.payment_intent_id,
    saleId: row.sale_id ?? undefined,
    paymentPaidAt: timestamp(row.payment_paid_at),
    merchantReviewDeadlineAt: timestamp(row.merchant_review_deadline_at),
    merchantDecision: row.merchant_decision
      ? {
          decidedAt: timestamp(row.merchant_decided_at),
          decision: enumValue(MerchantDecisionKind, row.merchant_decision),
          reason: row.merchant_decision_reason ?? undefined,
        }
      : undefined,
    reason: row.reason,
    refundWindow: row.refund_window_days
      ? { days: row.refund_window_days, expiresAt: timestamp(row.refund_window_expires_at) }
      : undefined,
    requestedAt: timestamp(row.requested_at),
    updatedAt: timestamp(row.updated_at),
    executions: row.executions,
  };
}

const server = createServer(handler);
await announcePort({
  server,
  listen: ({ host, port }) => new Promise<void>((resolve) => server.listen(port, host, resolve)),
});
