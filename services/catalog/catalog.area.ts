import { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { Area } from '../platform/area.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import { OfferEntity, PriceEntity, ProductEntity } from './product.entity.ts';
import { productService } from './products.service.ts';

export const catalog: Area = {
  name: 'catalog',
  entities: [ProductEntity, PriceEntity, OfferEntity],
  grants: [],
  bind: (dependencies) => [bindService(ProductService, productService(dependencies))],
};
