import type {
  SearchSalesRequest,
  SearchSalesResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { saleMessage } from './sale.message.ts';
import { selectFoundSales } from './sale.queries.ts';

/** The first sales whose order number starts with the prefix, in any case. */
export async function searchSales(
  database: Database,
  request: SearchSalesRequest,
): Promise<SearchSalesResponse> {
  const { orderNumberPrefix: prefix, limit } = request;
  const search = { ...tenantOf(request), prefix, limit: limit + 1 };
  const rows = await database.readList(selectFoundSales(search));
  return {
    $typeName: 'payments.funds.v1.SearchSalesResponse',
    sales: rows.slice(0, limit).map(saleMessage),
    hasMore: rows.length > limit,
  };
}
