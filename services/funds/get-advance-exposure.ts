import type {
  GetAdvanceExposureRequest,
  GetAdvanceExposureResponse,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { within64Bits } from '../platform/within-64-bits.ts';
import { selectAdvanceExposure } from './advance-exposure.queries.ts';
import { availableMinor } from './allocation.ts';

/** What a merchant owes beside an advance, and the disputes of the sales that it covers. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE). */
export async function getAdvanceExposure(
  database: Database,
  request: GetAdvanceExposureRequest,
): Promise<GetAdvanceExposureResponse> {
  const { advanceRequestId } = request;
  const row = await database.readOne(selectAdvanceExposure({ ...tenantOf(request), advanceRequestId }));
  if (!row) throw new Error('the sums of an account were not returned');
  const debtsMinor = BigInt(row.open_debts_minor);
  return {
    $typeName: 'payments.funds.v1.GetAdvanceExposureResponse',
    availableAmountMinor: within64Bits(availableMinor(BigInt(row.released_minor), debtsMinor)),
    openDebtsAmountMinor: within64Bits(debtsMinor),
    disputeIds: row.dispute_ids,
  };
}
