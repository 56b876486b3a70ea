import {
  type Dispute,
  DisputeOutcome,
  DisputeReason,
  type DisputeResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { CURRENCY } from '../../platform/amounts.ts';
import { readRowOf } from '../../platform/reads/read-table.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import type { DisputeRow } from '../refund-case.entity.ts';
import type { DisputeReadRow } from './dispute.queries.ts';

export function disputeMessage(row: DisputeReadRow): Dispute {
  return {
    $typeName: 'payments.refunds.v1.Dispute',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    paymentIntentId: row.payment_intent_id,
    saleId: row.sale_id ?? undefined,
    amountMinor: row.amount_minor ?? undefined,
    currency: CURRENCY,
    reason: DisputeReason[row.reason],
    openedAt: row.opened_at,
    dueAt: row.due_at ?? undefined,
    response: response(row),
    evidenceCount: row.evidence_count,
    closedAt: row.closed_at ?? undefined,
    outcome: DisputeOutcome[row.outcome ?? 'UNSPECIFIED'],
    lostAmountMinor: row.lost_minor ?? undefined,
    reversedAt: row.reversed_at ?? undefined,
  };
}

function response(row: DisputeReadRow): DisputeResponse | undefined {
  const { response_text: text, responded_at: respondedAt, response_submitted_at: submittedAt } = row;
  if (text === null || respondedAt === null) return undefined;
  return {
    $typeName: 'payments.refunds.v1.DisputeResponse',
    text,
    respondedAt,
    submittedAt: submittedAt ?? undefined,
  };
}

/** The message of a dispute inside a transaction. */
export const storedDisputeMessage = (row: DisputeRow): Dispute => disputeMessage(readRowOf(row));
