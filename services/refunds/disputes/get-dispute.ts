import type {
  GetDisputeRequest,
  GetDisputeResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { disputeMessage } from './dispute.message.ts';
import { selectDispute } from './dispute.queries.ts';
import { disputeNotFound } from './dispute.ts';

export async function getDispute(
  database: Database,
  request: GetDisputeRequest,
): Promise<GetDisputeResponse> {
  const row = await database.readOne(selectDispute({ ...tenantOf(request), id: request.disputeId }));
  if (!row) throw disputeNotFound();
  return { $typeName: 'payments.refunds.v1.GetDisputeResponse', dispute: disputeMessage(row) };
}
