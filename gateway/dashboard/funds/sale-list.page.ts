import { type Static, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Product } from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService, type Sale, SaleStatus } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { pagesOf } from '../../../services/platform/rpc/pages-of.ts';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { SALE_COLUMNS } from '../exports/list-columns.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import {
  amountColumn,
  type Column,
  dataTable,
  field,
  inputField,
  moment,
  pageParameter,
  pager,
  select,
} from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { filterField, filterParameter, isUnfiltered, queryForm } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { DateRange, dateRangeParameters, fileParameters } from './date-range.ts';
import { fundsTexts } from './funds.texts.ts';
import { remainingMinor } from './release.components.ts';
import { methodText, SALE_STATES, saleBadge } from './sale.components.ts';
import { namedSale, type ProductNames, readProductNames } from './sale-names.ts';
import { salesTexts } from './sales.texts.ts';

const CSV = '/funds/sales.csv';
const PAGE_SIZE = 25;
/** Products in the filter; a product beyond them has a link to its sales on its own page. */
const MAX_PRODUCTS = 500;
/** As RecordSale accepts. */
const MAX_CUSTOMER_LENGTH = 255;
const Filter = {
  order: filterParameter,
  product: filterParameter,
  customer: Type.Optional(Type.String({ maxLength: MAX_CUSTOMER_LENGTH })),
  status: filterParameter,
};
const Query = Type.Object({ ...dateRangeParameters, ...Filter, page: pageParameter });
const CsvQuery = Type.Object({ ...fileParameters, ...Filter });

interface Filters {
  readonly range: DateRange;
  readonly order: string;
  readonly product: string;
  readonly customer: string;
  readonly state: (typeof SALE_STATES)[number] | undefined;
}

/** /funds/sales: the merchant's sales, newest first, and the same as a file. */
export function saleListPages(pages: Pages): void {
  const options = { path: '/funds/sales', role: Role.VIEWER, section: 'funds', query: Query } as const;
  pages.page(options, async (view, { query }) => {
    const t = textsFor(view, salesTexts);
    const filters = filtersOf(view, query);
    const isRefused = filters.range.hasFault;
    const empty = !isRefused && isUnfiltered(requestOf(filters), query.page) ? t.empty : t.none;
    const page = { pageSize: PAGE_SIZE, pageToken: query.page ?? '' };
    const [products, { sales, nextPageToken }] = await Promise.all([
      productsToChoose(view, filters.product),
      isRefused
        ? { sales: [], nextPageToken: '' }
        : view.clients.funds.listSales({ ...requestOf(filters), ...page }),
    ]);
    const productNames = await readProductNames(view, sales);
    return {
      title: t.title,
      ...(isRefused && { status: 422 }),
      body: html`${breadcrumbs(view, 'funds')}
${filterForm(view, filters, products)}
${isRefused ? nothing : csvLinks(view, CSV, linkOf(filters))}
${dataTable(t.newestHint, saleColumns(view, filters, productNames), sales, empty)}
${isRefused ? nothing : pager(view, nextPageToken)}`,
    };
  });
  const rpc = FundsService.method.exportSales;
  pages.download({ path: CSV, rpc, section: 'funds', query: CsvQuery }, async (view, { query }) => {
    const filters = filtersOf(view, query);
    return listDownload({
      name: filters.range.fileName('sales'),
      columns: SALE_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.funds.exportSales(requestOf(filters), options),
      rowsOf: ({ sales }) => sales,
    });
  });
}

/** The newest products, and the chosen one. */
async function productsToChoose({ clients }: View, chosen: string): Promise<readonly Product[]> {
  const products: Product[] = [];
  for await (const page of pagesOf((request) => clients.products.listProducts(request))) {
    products.push(...page.products);
    if (products.length >= MAX_PRODUCTS) break;
  }
  if (!isUuid(chosen) || products.some(({ id }) => id === chosen)) return products;
  const found = await clients.products.listProducts({ productIds: [chosen] });
  return [...products, ...found.products];
}

const linkOf = ({ range, state: status, ...filters }: Filters) => ({ ...range.query, status, ...filters });

/** Ignores unknown values of a drop-down. */
function filtersOf(view: View, query: Static<typeof CsvQuery>): Filters {
  const { order = '', product = '', customer = '', status } = query;
  const state = SALE_STATES.find((name) => name === status);
  return {
    range: new DateRange(view, query),
    order: order.trim(),
    product,
    customer: customer.trim(),
    state,
  };
}

function requestOf({ range, order, product, customer, state }: Filters) {
  return {
    ...range.request,
    ...(order && (isUuid(order) ? { orderId: order } : { orderNumber: order })),
    ...(isUuid(product) && { productId: product }),
    ...(customer && { customerReference: customer }),
    ...(state && { status: SaleStatus[state] }),
  };
}

function filterForm(view: View, filters: Filters, products: readonly Product[]): Html {
  const t = textsFor(view, salesTexts);
  const names = new Map(products.map(({ id, name }) => [id, name.trim() || id]));
  const { range, order, product, customer, state } = filters;
  if (isUuid(product) && !names.has(product)) names.set(product, product);
  const states = SALE_STATES.map((name) => [name, t.states[name]] as const);
  const customerAttributes = html`maxlength="${MAX_CUSTOMER_LENGTH}" autocomplete="off" spellcheck="false"`;
  const fields = html`${range.fields(t)}
${filterField({ name: 'order', label: t.order }, order)}
${field({ name: 'product', label: t.product }, select([['', t.anyProduct], ...names], product))}
${inputField({ name: 'customer', label: t.customer }, customer, customerAttributes)}
${field({ name: 'status', label: t.status }, select([['', t.anyStatus], ...states], state))}`;
  return queryForm(view, { fields, narrow: range.hasFault ? 'open' : 'collapsed' });
}

function saleColumns(view: View, { state }: Filters, products: ProductNames): Column<Sale>[] {
  const t = textsFor(view, salesTexts);
  const { amounts, kinds } = textsFor(view, fundsTexts);
  const blocked = amountColumn<Sale>(view, kinds.blocked, ({ blockedAmountMinor }) => blockedAmountMinor);
  return [
    { label: t.sale, isFreeText: true, cell: (sale) => namedSale(view, sale, products) },
    { label: t.captured, cell: ({ capturedAt }) => moment(view, capturedAt) },
    { label: t.method, cell: (sale) => methodText(view, sale) },
    amountColumn(view, amounts.gross, ({ grossAmountMinor }) => grossAmountMinor),
    amountColumn(view, amounts.net, ({ originalAmountMinor }) => originalAmountMinor),
    amountColumn(view, amounts.remaining, remainingMinor),
    ...(state === 'BLOCKED' ? [blocked] : []),
    { label: t.status, cell: (sale) => saleBadge(view, sale) },
  ];
}
