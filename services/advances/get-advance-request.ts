import type {
  GetAdvanceRequestRequest,
  GetAdvanceRequestResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { advanceRequestMessage } from './advance.message.ts';
import { selectRequest } from './advance.queries.ts';
import { advanceRequestNotFound } from './advance-store.ts';

/** One request. */
export async function getAdvanceRequest(
  database: Database,
  request: GetAdvanceRequestRequest,
): Promise<GetAdvanceRequestResponse> {
  const row = await database.readOne(selectRequest({ ...tenantOf(request), id: request.advanceRequestId }));
  if (!row) throw advanceRequestNotFound();
  return {
    $typeName: 'payments.advances.v1.GetAdvanceRequestResponse',
    advanceRequest: advanceRequestMessage(row),
  };
}
