import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type CreatePriceRequest,
  type CreatePriceResponseSchema,
  PriceInterval,
  PriceType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { PriceEntity } from './product.entity.ts';
import { publishEvent } from './product.event.ts';
import { storedPriceMessage } from './product.message.ts';
import { requireUnarchived } from './product.ts';
import { lockProduct } from './product-store.ts';

/** Adds a price to a product that is not archived. */
export function createPrice(writes: Writes, request: CreatePriceRequest, context: HandlerContext) {
  const type = enumName(PriceType, request.type);
  const occurredAt = occurredAtOf(request, context);
  return writes.run<typeof CreatePriceResponseSchema>(request, context, async (tx) => {
    const product = await lockProduct(tx, request.productId);
    requireUnarchived(product.status);
    const price = tx.create(PriceEntity, {
      id: uuidv7(),
      productId: product.id,
      amountMinor: request.amountMinor,
      type,
      interval: request.interval === undefined ? null : enumName(PriceInterval, request.interval),
      intervalCount: request.intervalCount,
      trialDays: request.trialDays,
      maxInstallments: request.maxInstallments,
      createdAt: occurredAt,
    });
    product.updatedAt = later(product.updatedAt, occurredAt);
    await publishEvent(tx, 'product.updated.v1', product, occurredAt);
    return { price: storedPriceMessage(price) };
  });
}
