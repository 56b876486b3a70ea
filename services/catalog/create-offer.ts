import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type CreateOfferRequest,
  type CreateOfferResponseSchema,
  PaymentMethod,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { failedPrecondition, notFound } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { OfferEntity, PriceEntity } from './product.entity.ts';
import { publishEvent } from './product.event.ts';
import { storedOfferMessage } from './product.message.ts';
import { requirePeriod, requireUnarchived } from './product.ts';
import { lockProduct } from './product-store.ts';

/** Adds an offer of a current price. It starts now unless the request names a start. */
export function createOffer(writes: Writes, request: CreateOfferRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  const startsAt = request.startsAt ? timestampDate(request.startsAt) : occurredAt;
  const endsAt = request.endsAt && timestampDate(request.endsAt);
  requirePeriod(startsAt, endsAt);
  return writes.run<typeof CreateOfferResponseSchema>(request, context, async (tx) => {
    const found = await tx.findOne(PriceEntity, { id: request.priceId });
    if (!found) throw notFound('PRICE_NOT_FOUND', 'the price does not exist');
    const product = await lockProduct(tx, found.productId);
    requireUnarchived(product.status);
    const price = await tx.lockOne(PriceEntity, { id: found.id });
    if (price?.retiredAt) {
      throw failedPrecondition('PRICE_RETIRED', 'the price is retired', { state: 'RETIRED' });
    }
    const offer = tx.create(OfferEntity, {
      id: uuidv7(),
      productId: product.id,
      priceId: found.id,
      name: request.name,
      checkoutUrl: request.checkoutUrl,
      paymentMethods: request.paymentMethods.map((method) => enumName(PaymentMethod, method)),
      maxInstallments: request.maxInstallments,
      startsAt,
      endsAt,
      createdAt: occurredAt,
    });
    product.updatedAt = later(product.updatedAt, occurredAt);
    await publishEvent(tx, 'product.updated.v1', product, occurredAt);
    return { offer: storedOfferMessage(offer) };
  });
}
