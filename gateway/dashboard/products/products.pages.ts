import type { FeatureDependencies } from '../shell/feature.ts';
import { productPage } from './product.page.ts';
import { productListPage } from './product-list.page.ts';

/** The product pages. */
export function productsPages(dependencies: FeatureDependencies): void {
  productListPage(dependencies);
  productPage(dependencies);
}
