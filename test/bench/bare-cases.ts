/** The statement of both bare servers: the columns, filter and order of the service's. */
export const SELECT_CASES = `select * from refunds.refund_case
 where merchant_id = $1 and environment = 'live' order by requested_at desc, id desc limit $2`;

/** A refund case as pg reads it, with timestamps by the type parser that is in use. */
export interface ListedCase<Time> {
  readonly id: string;
  readonly merchant_id: string;
  readonly amount_minor: string;
  readonly status: string;
  readonly initiator: string;
  readonly approval_mode: string | null;
  readonly blocked_by: string[];
  readonly evidence_count: number;
  readonly invoice_id: string | null;
  readonly order_id: string | null;
  readonly sale_id: string | null;
  readonly payment_intent_id: string;
  readonly payment_paid_at: Time | null;
  readonly merchant_review_deadline_at: Time | null;
  readonly merchant_decision: string | null;
  readonly merchant_decided_at: Time | null;
  readonly merchant_decision_reason: string | null;
  readonly processing_started_at: Time | null;
  readonly provider_refund_id: string | null;
  readonly provider_submission_status: string | null;
  readonly provider_submitted_at: Time | null;
  readonly reason: string;
  readonly refund_window_days: number | null;
  readonly refund_window_expires_at: Time | null;
  readonly requested_at: Time;
  readonly updated_at: Time;
  readonly executions: number;
}
