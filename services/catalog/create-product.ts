import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type CreateProductRequest,
  type CreateProductResponseSchema,
  ProductType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { ProductEntity } from './product.entity.ts';
import { publishEvent } from './product.event.ts';
import { readProduct } from './product-store.ts';

/** Creates a product in DRAFT. */
export function createProduct(writes: Writes, request: CreateProductRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  return writes.run<typeof CreateProductResponseSchema>(request, context, async (tx) => {
    const product = tx.create(ProductEntity, {
      id: uuidv7(),
      name: request.name,
      description: request.description,
      productType: enumName(ProductType, request.productType),
      status: 'DRAFT',
      refundWindowDays: request.refundWindowDays,
      imageAssetId: request.imageAssetId?.toLowerCase(),
      imageUrl: request.imageUrl,
      createdAt: occurredAt,
      updatedAt: occurredAt,
    });
    await tx.flush();
    await publishEvent(tx, 'product.created.v1', product, occurredAt);
    return { product: await readProduct(tx, product) };
  });
}
