import type { HandlerContext } from '@connectrpc/connect';
import type {
  ArchiveProductRequest,
  ArchiveProductResponseSchema,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { publishEvent } from './product.event.ts';
import { archived } from './product.ts';
import { lockProduct, readProduct } from './product-store.ts';

/** Archives an ACTIVE product. */
export function archiveProduct(writes: Writes, request: ArchiveProductRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  return writes.run<typeof ArchiveProductResponseSchema>(request, context, async (tx) => {
    const product = await lockProduct(tx, request.productId);
    product.status = archived(product.status);
    product.updatedAt = later(product.updatedAt, occurredAt);
    product.archivedAt = product.updatedAt;
    await publishEvent(tx, 'product.archived.v1', product, occurredAt);
    return { product: await readProduct(tx, product) };
  });
}
