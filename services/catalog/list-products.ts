import {
  type ListProductsRequest,
  type ListProductsResponse,
  ProductStatus,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { idsOf } from '../platform/reads/ids.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { productMessage } from './product.message.ts';
import { productOrder, selectProducts } from './product.queries.ts';

/** Lists products, newest first by (created_at, id). */
export async function listProducts(
  pagination: Pagination,
  request: ListProductsRequest,
): Promise<ListProductsResponse> {
  const tenant = tenantOf(request);
  const filters = {
    status: enumName(ProductStatus, request.status),
    productIds: idsOf(request.productIds),
  };
  const scope = { tenant, list: 'products', filters, order: productOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectProducts({ ...tenant, ...filters, ...range }),
  );
  return {
    $typeName: 'payments.catalog.v1.ListProductsResponse',
    products: page.rows.map(productMessage),
    nextPageToken: page.nextPageToken,
  };
}
