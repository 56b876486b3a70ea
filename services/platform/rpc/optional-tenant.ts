import type { HandlerContext } from '@connectrpc/connect';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { environmentRequired, type Tenant, tenantOf } from '../tenant.ts';
import { requireGrant } from './call-context.ts';

/**
 * The tenant of a request that may also address all merchants; undefined for all, which requires the grant operations.
 * INVALID_ARGUMENT for a merchant without an environment; PERMISSION_DENIED (GRANT_MISSING).
 */
export function optionalTenant(
  { merchantId, environment }: { merchantId?: string; environment: Environment },
  context: HandlerContext,
): Tenant | undefined {
  if (merchantId === undefined) {
    requireGrant(context, 'operations');
    return undefined;
  }
  if (environment === Environment.UNSPECIFIED) throw environmentRequired();
  return tenantOf({ merchantId, environment });
}
