import type { RoomDependencies } from '../shell/feature.ts';
import { productPage } from './product.page.ts';
import { productListPage } from './product-list.page.ts';

/** Pages of products. */
export function productsPages(dependencies: RoomDependencies): void {
  productListPage(dependencies);
  productPage(dependencies);
}
