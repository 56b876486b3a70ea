import type {
  GetAdvanceRequestRequest,
  GetAdvanceRequestResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { advanceRequestMessage, quoteInstallmentMessage } from './advance.message.ts';
import { selectQuoteInstallments, selectRequest } from './advance.queries.ts';
import { advanceRequestNotFound } from './advance-store.ts';

/** One request, with the installments that it covers. */
export async function getAdvanceRequest(
  database: Database,
  request: GetAdvanceRequestRequest,
): Promise<GetAdvanceRequestResponse> {
  const tenant = tenantOf(request);
  const row = await database.readOne(selectRequest({ ...tenant, id: request.advanceRequestId }));
  if (!row) throw advanceRequestNotFound();
  const installments = await database.read(selectQuoteInstallments({ ...tenant, quoteId: row.quote_id }));
  return {
    $typeName: 'payments.advances.v1.GetAdvanceRequestResponse',
    advanceRequest: advanceRequestMessage(row),
    installments: installments.map(quoteInstallmentMessage),
  };
}
