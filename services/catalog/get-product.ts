import type {
  GetProductRequest,
  GetProductResponse,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { productMessage } from './product.message.ts';
import { selectProduct } from './product.queries.ts';
import { productNotFound } from './product-store.ts';

/** Reads a product with its current prices and offers in one statement. */
export async function getProduct(
  database: Database,
  request: GetProductRequest,
): Promise<GetProductResponse> {
  const row = await database.readOne(selectProduct({ ...tenantOf(request), id: request.productId }));
  if (!row) throw productNotFound();
  return { $typeName: 'payments.catalog.v1.GetProductResponse', product: productMessage(row) };
}
