import type { JsonObject } from '@bufbuild/protobuf';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { ProductRow } from './product.entity.ts';

type ProductEventType = 'product.created.v1' | 'product.updated.v1' | 'product.archived.v1';

/** Publishes an event with the current state of the product. */
export async function publishEvent(
  tx: TenantTransaction,
  type: ProductEventType,
  product: ProductRow,
  occurredAt: Date,
): Promise<void> {
  await tx.publish({ type, objectId: product.id, data: productEventData(product), occurredAt });
}

/** The `data` of product events: the product without prices and offers. Absent values are omitted. */
function productEventData(product: ProductRow): JsonObject {
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
