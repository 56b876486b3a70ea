import type { ServiceImpl } from '@connectrpc/connect';
import type { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { activateProduct } from './activate-product.ts';
import { archiveProduct } from './archive-product.ts';
import { createOffer } from './create-offer.ts';
import { createPrice } from './create-price.ts';
import { createProduct } from './create-product.ts';
import { getProduct } from './get-product.ts';
import { listProducts } from './list-products.ts';
import { retireOffer } from './retire-offer.ts';
import { retirePrice } from './retire-price.ts';
import { updateProduct } from './update-product.ts';

export function productService({
  database,
  pagination,
  writes,
}: AreaDependencies): ServiceImpl<typeof ProductService> {
  return {
    getProduct: (request) => getProduct(database, request),
    listProducts: (request) => listProducts(pagination, request),
    createProduct: (request, context) => createProduct(writes, request, context),
    updateProduct: (request, context) => updateProduct(writes, request, context),
    activateProduct: (request, context) => activateProduct(writes, request, context),
    archiveProduct: (request, context) => archiveProduct(writes, request, context),
    createPrice: (request, context) => createPrice(writes, request, context),
    retirePrice: (request, context) => retirePrice(writes, request, context),
    createOffer: (request, context) => createOffer(writes, request, context),
    retireOffer: (request, context) => retireOffer(writes, request, context),
  };
}
