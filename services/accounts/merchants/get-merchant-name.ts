import type {
  GetMerchantNameRequest,
  GetMerchantNameResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectMerchantName } from './merchant.queries.ts';

/** The name of a merchant; empty when none is set. */
export async function getMerchantName(
  database: Database,
  request: GetMerchantNameRequest,
): Promise<GetMerchantNameResponse> {
  const { merchantId } = tenantOf(request);
  const merchant = await database.readOne(selectMerchantName({ merchantId }));
  return { $typeName: 'payments.accounts.v1.GetMerchantNameResponse', name: merchant?.name ?? '' };
}
