import type { HandlerContext } from '@connectrpc/connect';
import type {
  RetireOfferRequest,
  RetireOfferResponseSchema,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { notFound } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { OfferEntity } from './product.entity.ts';
import { publishEvent } from './product.event.ts';
import { lockProduct, readProduct } from './product-store.ts';

/** Retires an offer. Does nothing when it is already retired. */
export function retireOffer(writes: Writes, request: RetireOfferRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  return writes.run<typeof RetireOfferResponseSchema>(request, context, async (tx) => {
    const found = await tx.findOne(OfferEntity, { id: request.offerId });
    if (!found) throw notFound('OFFER_NOT_FOUND', 'the offer does not exist');
    const product = await lockProduct(tx, found.productId);
    const offer = await tx.lockOne(OfferEntity, { id: found.id });
    if (offer && !offer.retiredAt) {
      offer.retiredAt = occurredAt;
      product.updatedAt = later(product.updatedAt, occurredAt);
      await publishEvent(tx, 'product.updated.v1', product, occurredAt);
    }
    return { product: await readProduct(tx, product) };
  });
}
