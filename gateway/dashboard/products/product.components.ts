import {
  PriceInterval,
  type Product,
  ProductStatus,
  ProductType,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { badge, type Tone } from '../shell/components.ts';
import type { Html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { productsTexts } from './products.texts.ts';

/** The statuses of a product, by name. */
export const STATES = ['DRAFT', 'ACTIVE', 'ARCHIVED'] as const;

export type StateName = (typeof STATES)[number];

const TONES: Readonly<Record<StateName, Tone>> = { DRAFT: 'busy', ACTIVE: 'good', ARCHIVED: 'off' };

/** A product's status as a badge. */
export function stateBadge(view: View, { status }: Pick<Product, 'status'>): Html {
  const name = ProductStatus[status] as StateName;
  return badge(TONES[name], textsFor(view, productsTexts).states[name]);
}

/** The product type as text. */
export function typeText(view: View, { productType }: Pick<Product, 'productType'>): string {
  const t = textsFor(view, productsTexts);
  return t.types[ProductType[productType] as keyof typeof t.types];
}

/** The billing interval as text. */
export function chargeText(view: View, price: Product['prices'][number]): string {
  const t = textsFor(view, productsTexts);
  if (price.interval === undefined) return t.once;
  return t.every(
    price.intervalCount ?? 1,
    PriceInterval[price.interval] as Exclude<keyof typeof PriceInterval, 'UNSPECIFIED'>,
  );
}
