import type {
  ListSaleMovementsRequest,
  ListSaleMovementsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { saleMovementMessage } from './movement.message.ts';
import { movementOrder, selectSaleMovements } from './movement.queries.ts';

/** A page of the movements of one sale, ascending by (occurred_at, id). */
export async function listSaleMovements(
  pagination: Pagination,
  request: ListSaleMovementsRequest,
): Promise<ListSaleMovementsResponse> {
  const tenant = tenantOf(request);
  const saleId = request.saleId.toLowerCase();
  const scope = { tenant, list: 'sale-movements', filters: { saleId }, order: movementOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectSaleMovements({ ...tenant, saleId, ...range }),
  );
  return {
    $typeName: 'payments.funds.v1.ListSaleMovementsResponse',
    movements: page.rows.map(saleMovementMessage),
    nextPageToken: page.nextPageToken,
  };
}
