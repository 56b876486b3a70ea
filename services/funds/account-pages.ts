import type { FundsAccount } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { invalidArgument } from '../platform/errors.ts';
import { type Tenant, tenantFields, tenantOf } from '../platform/tenant.ts';
import type { AccountPage } from './cross-tenant.queries.ts';

/** The fields of requests about one account, or about all accounts, some of them in each call. */
interface AccountsRequest {
  readonly merchantId?: string;
  readonly after?: FundsAccount;
}

/** INVALID_ARGUMENT for a request with both an account and a position. */
export function requireOneStart({ merchantId, after }: AccountsRequest): void {
  if (merchantId === undefined || !after) return;
  throw invalidArgument('INVALID_ARGUMENT', 'after: must not be given with merchant_id', { field: 'after' });
}

/** The accounts after one, or the first ones, in the order of their keys. */
export function accountPage(after: FundsAccount | undefined, limit: number): AccountPage {
  const position = after && tenantOf(after);
  return { afterMerchantId: position?.merchantId, afterEnvironment: position?.environment, limit };
}

export const accountMessage = (tenant: Tenant): FundsAccount => ({
  $typeName: 'payments.funds.v1.FundsAccount',
  ...tenantFields(tenant),
});
