import type { HandlerContext } from '@connectrpc/connect';
import type {
  ListStuckPayoutsRequest,
  ListStuckPayoutsResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { Database } from '../platform/database/database.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { optionalTenant } from '../platform/rpc/optional-tenant.ts';
import { environmentName } from '../platform/tenant.ts';
import { advanceRequestMessage } from './advance.message.ts';
import { selectStuckPayouts, stuckPayoutOrder } from './advance.queries.ts';

/** A page of requests with stuck payouts, of one merchant or of all, longest waiting first. */
export async function listStuckPayouts(
  database: Database,
  pagination: Pagination,
  request: ListStuckPayoutsRequest,
  context: HandlerContext,
): Promise<ListStuckPayoutsResponse> {
  const tenant = optionalTenant(request, context);
  const { environment } = request;
  const filters = {
    merchantId: tenant?.merchantId,
    environment: environment === Environment.UNSPECIFIED ? undefined : environmentName(environment),
  };
  const scope = { list: 'stuck-payouts', filters, order: stuckPayoutOrder };
  const page = await pagination.page(scope, request, (range) =>
    database.read(selectStuckPayouts({ ...filters, ...range })),
  );
  return {
    $typeName: 'payments.advances.v1.ListStuckPayoutsResponse',
    advanceRequests: page.rows.map(advanceRequestMessage),
    nextPageToken: page.nextPageToken,
  };
}
