import { fastify } from 'fastify';
import pg from 'pg';
import { serializerCompiler } from '../../gateway/plugins/serialization.ts';
import { refundCaseListSchema } from '../../gateway/routes/refund-case.schema.ts';
import { type ListedCase, SELECT_CASES } from './bare-cases.ts';
import { announcePort } from './bench-process.ts';

/**
 * The baseline of the public API: Fastify and pg with one prepared statement, ten connections and a compiled response
 * schema, for the same JSON. No key, no log, no validation, no page token.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, options: '-c timezone=UTC' });
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`).toISOString(),
);
const app = fastify();
app.setSerializerCompiler(serializerCompiler);

const schema = { response: refundCaseListSchema.response };
app.get<{ Querystring: { merchant: string; limit: string } }>(
  '/refund-cases',
  { schema },
  async ({ query }) => {
    const limit = Number(query.limit);
    const values = [query.merchant, limit + 1];
    const { rows } = await pool.query<ListedCase<string>>({
      name: 'list',
      text: SELECT_CASES,
      values,
      types,
    });
    const hasMore = rows.length > limit;
    if (hasMore) rows.pop();
    return { data: rows.map(caseJson), hasMore, nextCursor: hasMore ? rows.at(-1)!.id : null };
  },
);

function caseJson(row: ListedCase<string>) {
  return {
    id: row.id,
    amount: row.amount_minor,
    currency: 'BRL',
    status: row.status,
    initiator: row.initiator,
    approvalMode: row.approval_mode,
    blockedBy: row.blocked_by,
    evidenceCount: row.evidence_count,
    invoiceId: row.invoice_id,
    orderId: row.order_id,
    paymentIntentId: row.payment_intent_id,
    paymentPaidAt: row.payment_paid_at,
    merchantReviewDeadlineAt: row.merchant_review_deadline_at,
    merchantDecision: row.merchant_decision && {
      decidedAt: row.merchant_decided_at,
      decision: row.merchant_decision,
      reason: row.merchant_decision_reason,
    },
    provider: row.processing_started_at && {
      refundId: row.provider_refund_id,
      submissionStatus: row.provider_submission_status,
      submittedAt: row.provider_submitted_at,
    },
    reason: row.reason,
    refundWindow: row.refund_window_days && {
      days: row.refund_window_days,
      expiresAt: row.refund_window_expires_at,
    },
    requestedAt: row.requested_at,
    updatedAt: row.updated_at,
  };
}

await announcePort(app);
