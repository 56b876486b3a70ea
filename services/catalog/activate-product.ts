import type { HandlerContext } from '@connectrpc/connect';
import type {
  ActivateProductRequest,
  ActivateProductResponseSchema,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { publishEvent } from './product.event.ts';
import { activated } from './product.ts';
import { currentPrices, lockProduct, readProduct } from './product-store.ts';

/** Activates a DRAFT product that has a current price. */
export function activateProduct(writes: Writes, request: ActivateProductRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  return writes.run<typeof ActivateProductResponseSchema>(request, context, async (tx) => {
    const product = await lockProduct(tx, request.productId);
    const prices = await currentPrices(tx, product.id);
    product.status = activated(product.status, prices.length);
    product.updatedAt = later(product.updatedAt, occurredAt);
    await publishEvent(tx, 'product.updated.v1', product, occurredAt);
    return { product: await readProduct(tx, product) };
  });
}
