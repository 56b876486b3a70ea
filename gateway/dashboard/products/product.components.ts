import {
  PriceInterval,
  type Product,
  ProductStatus,
  ProductType,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { type EnumName, enumName } from '../../../services/platform/enum-name.ts';
import { badge, type Tone } from '../shell/components.ts';
import type { Html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { productsTexts } from './products.texts.ts';

export type StateName = EnumName<typeof ProductStatus>;

const TONES: Readonly<Record<StateName, Tone>> = { DRAFT: 'busy', ACTIVE: 'good', ARCHIVED: 'off' };

/** The statuses of a product, in the order of a drop-down. */
export const STATES = Object.keys(TONES) as StateName[];

export function stateBadge(view: View, { status }: Pick<Product, 'status'>): Html {
  const name = enumName(ProductStatus, status);
  return badge(TONES[name], textsFor(view, productsTexts).states[name]);
}

export function typeText(view: View, { productType }: Pick<Product, 'productType'>): string {
  return textsFor(view, productsTexts).types[enumName(ProductType, productType)];
}

/** The billing interval as text. */
export function chargeText(view: View, price: Product['prices'][number]): string {
  const t = textsFor(view, productsTexts);
  if (price.interval === undefined) return t.once;
  return t.every(price.intervalCount ?? 1, enumName(PriceInterval, price.interval));
}
