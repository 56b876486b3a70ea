import { type Dispute, DisputeOutcome } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { environmentEnum } from '../platform/tenant.ts';
import type { DisputeReadRow } from './dispute.queries.ts';

/** The message of a dispute that a hot read returned. */
export function disputeMessage(row: DisputeReadRow): Dispute {
  return {
    $typeName: 'payments.refunds.v1.Dispute',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    paymentIntentId: row.payment_intent_id,
    saleId: row.sale_id ?? undefined,
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? undefined,
    outcome: DisputeOutcome[row.outcome ?? 'UNSPECIFIED'],
  };
}
