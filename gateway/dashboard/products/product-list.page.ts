import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type Product, ProductStatus } from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { dataTable, field, link, moment, pageParameter, pager, select } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { filterParameter, queryForm } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { chargeText, STATES, type StateName, stateBadge, typeText } from './product.components.ts';
import { productsTexts } from './products.texts.ts';

const PAGE_SIZE = 25;

const Query = Type.Object({
  status: filterParameter,
  page: pageParameter,
});

export function productListPage(pages: Pages): void {
  const options = { path: '/products', role: Role.VIEWER, section: 'products', query: Query } as const;
  pages.page(options, async (view, { query }) => {
    const t = textsFor(view, productsTexts);
    const state = STATES.find((name) => name === query.status);
    const { products, nextPageToken } = await view.clients.products.listProducts({
      ...(state && { status: ProductStatus[state] }),
      pageSize: PAGE_SIZE,
      pageToken: query.page ?? '',
    });
    const body = html`${filterForm(view, state)}
${productTable(view, products, state ? t.noneWithFilter : t.none)}
${pager(view, nextPageToken)}`;
    return { title: t.title, body };
  });
}

function filterForm(view: View, state: StateName | undefined): Html {
  const t = textsFor(view, productsTexts);
  const states = STATES.map((name) => [name, t.states[name]] as const);
  const choice = select([['', t.anyStatus], ...states], state);
  return queryForm(view, { fields: field({ name: 'status', label: t.status }, choice) });
}

function productTable(view: View, products: readonly Product[], empty: string): Html {
  const t = textsFor(view, productsTexts);
  return dataTable<Product>(
    t.caption,
    [
      {
        label: t.product,
        isFreeText: true,
        cell: ({ id, name }) => link(view, `/products/${id}`, name.trim() || id),
      },
      { label: t.status, cell: (product) => stateBadge(view, product) },
      { label: t.type, cell: (product) => typeText(view, product) },
      { label: t.price, cell: (product) => prices(view, product), isNumber: true },
      { label: t.updated, cell: ({ updatedAt }) => moment(view, updatedAt) },
    ],
    products,
    empty,
  );
}

function prices(view: View, product: Product): Html {
  const t = textsFor(view, productsTexts);
  const [first, ...others] = product.prices;
  if (!first) return html`<span class="soft">${t.noPrice}</span>`;
  const charge = first.interval === undefined ? '' : ` ${chargeText(view, first)}`;
  const more = others.length > 0 ? ` ${t.morePrices(view.format.number(others.length))}` : '';
  return html`${view.format.money(first.amountMinor)}<span class="soft">${charge}${more}</span>`;
}
