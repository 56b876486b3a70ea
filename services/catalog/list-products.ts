import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type ListProductsRequest,
  type ListProductsResponse,
  ProductStatus,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { Database } from '../platform/database.ts';
import { enumName } from '../platform/enum-name.ts';
import type { Pagination } from '../platform/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { productMessage } from './product.message.ts';
import { selectProducts } from './product.queries.ts';

/** A page of products, newest first by (created_at, id). */
export async function listProducts(
  database: Database,
  pagination: Pagination,
  request: ListProductsRequest,
): Promise<ListProductsResponse> {
  const tenant = tenantOf(request);
  const status = request.status === undefined ? undefined : enumName(ProductStatus, request.status);
  const scope = { tenant, list: 'products', filters: { status } };
  const position = pagination.position(scope, request.pageToken, 2);
  const read = selectProducts({
    ...tenant,
    status,
    afterCreatedAt: position && new Date(Number(position[0])),
    afterId: position?.[1],
    limit: pagination.fetchSize(request.pageSize),
  });
  const fetched = await database.read(read);
  const page = pagination.cut(scope, request.pageSize, fetched, (row) => [
    String(timestampMs(row.created_at)),
    row.id,
  ]);
  return {
    $typeName: 'payments.catalog.v1.ListProductsResponse',
    products: page.rows.map(productMessage),
    nextPageToken: page.nextPageToken,
  };
}
