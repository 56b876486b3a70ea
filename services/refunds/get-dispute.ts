import {
  DisputeOutcome,
  type GetDisputeRequest,
  type GetDisputeResponse,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database.ts';
import { environmentEnum, tenantOf } from '../platform/tenant.ts';
import { selectDispute } from './dispute.queries.ts';
import { disputeNotFound } from './dispute.ts';

/** One dispute. */
export async function getDispute(
  database: Database,
  request: GetDisputeRequest,
): Promise<GetDisputeResponse> {
  const [row] = await database.read(selectDispute({ ...tenantOf(request), id: request.disputeId }));
  if (!row) throw disputeNotFound();
  return {
    $typeName: 'payments.refunds.v1.GetDisputeResponse',
    dispute: {
      $typeName: 'payments.refunds.v1.Dispute',
      id: row.id,
      merchantId: row.merchant_id,
      environment: environmentEnum(row.environment),
      paymentIntentId: row.payment_intent_id,
      saleId: row.sale_id ?? undefined,
      openedAt: row.opened_at,
      closedAt: row.closed_at ?? undefined,
      outcome: DisputeOutcome[row.outcome ?? 'UNSPECIFIED'],
    },
  };
}
