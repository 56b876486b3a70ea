import type {
  GetRefundCaseRequest,
  GetRefundCaseResponse,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { refundCaseMessage } from './refund-case.message.ts';
import { selectRefundCase } from './refund-case.queries.ts';
import { refundCaseNotFound } from './refund-case-store.ts';

export async function getRefundCase(
  database: Database,
  request: GetRefundCaseRequest,
): Promise<GetRefundCaseResponse> {
  const row = await database.readOne(selectRefundCase({ ...tenantOf(request), id: request.refundCaseId }));
  if (!row) throw refundCaseNotFound();
  return { $typeName: 'payments.refunds.v1.GetRefundCaseResponse', refundCase: refundCaseMessage(row) };
}
