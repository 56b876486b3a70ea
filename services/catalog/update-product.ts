import type { HandlerContext } from '@connectrpc/connect';
import type {
  UpdateProductRequest,
  UpdateProductResponseSchema,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { parseAll } from '../platform/request-faults.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import type { ProductRow } from './product.entity.ts';
import { publishEvent } from './product.event.ts';
import { contentChange, type ProductContent, requireUnarchived } from './product.ts';
import { lockProduct, readProduct } from './product-store.ts';

/** Sets the fields in the mask on a product that is not archived. Publishes an event only if a value changes. */
export function updateProduct(writes: Writes, request: UpdateProductRequest, context: HandlerContext) {
  const { name, description, refundWindowDays, imageUrl } = request;
  const imageAssetId = request.imageAssetId?.toLowerCase();
  const given = { name, description, refundWindowDays, imageAssetId, imageUrl };
  const [occurredAt, change] = parseAll(
    () => occurredAtOf(request, context),
    () => contentChange(request.updateMask?.paths ?? [], given),
  );
  return writes.run<typeof UpdateProductResponseSchema>(request, context, async (tx) => {
    const product = await lockProduct(tx, request.productId);
    requireUnarchived(product.status);
    if (isChanged(product, change)) {
      Object.assign(product, change, { updatedAt: later(product.updatedAt, occurredAt) });
      await publishEvent(tx, 'product.updated.v1', product, occurredAt);
    }
    return { product: await readProduct(tx, product) };
  });
}

function isChanged(product: ProductRow, change: Partial<ProductContent>): boolean {
  const fields = Object.keys(change) as (keyof ProductContent)[];
  return fields.some((field) => (product[field] ?? null) !== change[field]);
}
