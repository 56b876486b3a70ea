import type {
  GetAdvanceRateRequest,
  GetAdvanceRateResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { advanceRateMessage } from './advance.message.ts';
import { selectRate } from './advance.queries.ts';

/** The current rate of the merchant's quotes. */
export async function getAdvanceRate(
  database: Database,
  defaultRateBps: number,
  request: GetAdvanceRateRequest,
): Promise<GetAdvanceRateResponse> {
  const latest = await database.readOne(selectRate({ ...tenantOf(request), at: new Date() }));
  return {
    $typeName: 'payments.advances.v1.GetAdvanceRateResponse',
    rate: advanceRateMessage(latest, defaultRateBps),
  };
}
