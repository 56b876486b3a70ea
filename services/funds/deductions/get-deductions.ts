import type {
  GetDeductionsRequest,
  GetDeductionsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { within64Bits } from '../../platform/within-64-bits.ts';
import { selectDeductions } from './deduction.queries.ts';

/**
 * The amounts deducted for sources, such as lost disputes, less what was returned. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE).
 */
export async function getDeductions(
  database: Database,
  request: GetDeductionsRequest,
): Promise<GetDeductionsResponse> {
  const { sourceIds } = request;
  const rows = await database.readList(selectDeductions({ ...tenantOf(request), sourceIds }));
  return {
    $typeName: 'payments.funds.v1.GetDeductionsResponse',
    amountsMinor: Object.fromEntries(
      rows.map(({ source_id, amount_minor }) => [source_id, within64Bits(BigInt(amount_minor))]),
    ),
  };
}
