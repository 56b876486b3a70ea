import type { JsonObject } from '@bufbuild/protobuf';
import type { ProductRow } from './product.entity.ts';

/** The `data` of product events: the product without prices and offers. Absent values are omitted. */
export function productEventData(product: ProductRow): JsonObject {
  return {
    id: product.id,
    name: product.name,
    ...(product.description != null && { description: product.description }),
    productType: product.productType,
    status: product.status,
    refundWindowDays: product.refundWindowDays,
    ...(product.imageAssetId != null && { imageAssetId: product.imageAssetId }),
    ...(product.imageUrl != null && { imageUrl: product.imageUrl }),
    createdAt: product.createdAt.toISOString(),
    updatedAt: product.updatedAt.toISOString(),
    ...(product.archivedAt != null && { archivedAt: product.archivedAt.toISOString() }),
  };
}
