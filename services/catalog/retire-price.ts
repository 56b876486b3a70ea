import type { HandlerContext } from '@connectrpc/connect';
import type {
  RetirePriceRequest,
  RetirePriceResponseSchema,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { notFound } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { OfferEntity, PriceEntity } from './product.entity.ts';
import { publishEvent } from './product.event.ts';
import { requireAnotherPrice } from './product.ts';
import { currentPrices, lockProduct, readProduct } from './product-store.ts';

/** Retires a price and its offers. */
export function retirePrice(writes: Writes, request: RetirePriceRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  return writes.run<typeof RetirePriceResponseSchema>(request, context, async (tx) => {
    const found = await tx.findOne(PriceEntity, { id: request.priceId });
    if (!found) throw notFound('PRICE_NOT_FOUND', 'the price does not exist');
    const product = await lockProduct(tx, found.productId);
    const current = await currentPrices(tx, product.id);
    const price = current.find(({ id }) => id === found.id);
    if (price) {
      requireAnotherPrice(product.status, current.length - 1);
      price.retiredAt = occurredAt;
      for (const offer of await tx.find(OfferEntity, { priceId: price.id, retiredAt: null })) {
        offer.retiredAt = occurredAt;
      }
      product.updatedAt = later(product.updatedAt, occurredAt);
      await publishEvent(tx, 'product.updated.v1', product, occurredAt);
    }
    return { product: await readProduct(tx, product) };
  });
}
