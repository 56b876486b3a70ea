import type { Sale } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { copyable, NONE } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { View } from '../shell/view.ts';
import { saleLink } from './sale.components.ts';

type NamedSale = Pick<Sale, 'id' | 'orderNumber' | 'productId' | 'customerReference'>;

/** The names of products, by id. A product that the catalog does not have has none. */
export type ProductNames = ReadonlyMap<string, string>;

export interface SaleNames {
  readonly sales: ReadonlyMap<string, Sale>;
  readonly products: ProductNames;
}

export async function readProductNames(view: View, sales: readonly NamedSale[]): Promise<ProductNames> {
  const productIds = distinct(sales.map(({ productId }) => productId));
  if (productIds.length === 0) return new Map();
  // Not more than the ids: reads of at most 25 rows are cheaper.
  const request = { productIds, pageSize: productIds.length };
  const { products } = await view.clients.products.listProducts(request);
  return new Map(products.map(({ id, name }) => [id, name.trim()]));
}

/** Reads the sales behind a page of other records, and the names of their products. */
export async function readSaleNames(
  view: View,
  records: readonly { readonly saleId?: string }[],
): Promise<SaleNames> {
  const saleIds = distinct(records.map(({ saleId }) => saleId));
  if (saleIds.length === 0) return { sales: new Map(), products: new Map() };
  const request = { saleIds, pageSize: saleIds.length };
  const { sales } = await view.clients.funds.listSales(request);
  return {
    sales: new Map(sales.map((sale) => [sale.id, sale])),
    products: await readProductNames(view, sales),
  };
}

/** A link to a sale by its order number, with its product and customer below. */
export function namedSale(view: View, sale: NamedSale, products: ProductNames): Html {
  const { productId, customerReference } = sale;
  const names = [productId && products.get(productId), customerReference?.trim()].filter(Boolean);
  const below =
    names.length > 0
      ? html`<br><span class="soft">${names.map((name, at) => html`<span class="whole">${name}${at < names.length - 1 ? ' ·' : ''}</span> `)}</span>`
      : nothing;
  return html`${saleLink(view, sale)}${below}`;
}

/** The sale of another record; NONE when it is unknown. */
export function namedSaleOf(view: View, saleId: string | undefined, { sales, products }: SaleNames): Html {
  const sale = saleId === undefined ? undefined : sales.get(saleId);
  return sale ? namedSale(view, sale, products) : html`${NONE}`;
}

/** The sale of another record with its id, which is all that is known before the sale is recorded. */
export function identifiedSale(view: View, saleId: string | undefined, names: SaleNames): Html | undefined {
  if (saleId === undefined) return undefined;
  const sale = names.sales.get(saleId);
  if (!sale) return copyable(view, saleId);
  const named = namedSale(view, sale, names.products);
  // Without an order number, the link is the id.
  return sale.orderNumber?.trim() ? html`${named}<br>${copyable(view, saleId)}` : named;
}

const distinct = (ids: readonly (string | undefined)[]): string[] => [
  ...new Set(ids.filter((id) => id !== undefined)),
];
