import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type InferResult, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { isAnyOf } from '../platform/reads/ids.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../platform/reads/read-table.ts';
import type { RecordKey, Tenant } from '../platform/tenant.ts';
import { type OfferEntity, type PriceEntity, ProductEntity } from './product.entity.ts';
import type { ProductStatus } from './product.ts';

interface CatalogTables {
  'catalog.product': ReadTable<typeof ProductEntity>;
  'catalog.price': ReadTable<typeof PriceEntity>;
  'catalog.offer': ReadTable<typeof OfferEntity>;
}

/** A product as hot reads return it: with its current prices and offers as JSON, times in them as epoch milliseconds. */
export type ProductReadRow = InferResult<ReturnType<typeof products>>[number];

const db = queryBuilder<CatalogTables>();

const now = sql<Timestamp>`now()`;
const milliseconds = <T extends number | null = number>(column: string) =>
  sql<T>`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`;

/** Each subquery names the merchant: Citus does not conclude it from the product's, and would ask all nodes. */
function products(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('catalog.product as product')
    .where('product.merchant_id', '=', parameters('merchantId'))
    .where('product.environment', '=', parameters('environment'))
    .select(columnsOf(ProductEntity, 'product'))
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('catalog.price as price')
          .where('price.merchant_id', '=', parameters('merchantId'))
          .whereRef('price.environment', '=', 'product.environment')
          .whereRef('price.product_id', '=', 'product.id')
          .where('price.retired_at', 'is', null)
          .select(['price.id', 'price.amount_minor', 'price.type', 'price.interval', 'price.interval_count'])
          .select(['price.trial_days', 'price.max_installments'])
          .select(milliseconds('price.created_at').as('created_ms'))
          .orderBy('price.created_at')
          .orderBy('price.id'),
      ).as('prices'),
      jsonArrayFrom(
        eb
          .selectFrom('catalog.offer as offer')
          .where('offer.merchant_id', '=', parameters('merchantId'))
          .whereRef('offer.environment', '=', 'product.environment')
          .whereRef('offer.product_id', '=', 'product.id')
          .where('offer.retired_at', 'is', null)
          .where('offer.starts_at', '<=', now)
          .where((or) => or.or([or('offer.ends_at', 'is', null), or('offer.ends_at', '>', now)]))
          .select(['offer.id', 'offer.price_id', 'offer.name', 'offer.checkout_url', 'offer.payment_methods'])
          .select('offer.max_installments')
          .select(milliseconds('offer.starts_at').as('starts_ms'))
          .select(milliseconds<number | null>('offer.ends_at').as('ends_ms'))
          .orderBy('offer.created_at')
          .orderBy('offer.id'),
      ).as('offers'),
    ]);
}

export const selectProduct = prepareRead<RecordKey, ProductReadRow>((parameters) =>
  products(parameters).where('product.id', '=', parameters('id')).compile(),
);

interface ProductPage extends Tenant, PageRange {
  readonly status: ProductStatus | undefined;
  readonly productIds: readonly string[] | undefined;
}

/** Products are listed newest first. */
export const productOrder: ListOrder<ProductReadRow> = { columns: ['created_at', 'id'], direction: 'desc' };

/** A page of products in list order. */
export const selectProducts = prepareRead<ProductPage, ProductReadRow>((parameters) => {
  let query = products(parameters);
  if (parameters.has('status')) query = query.where('product.status', '=', parameters('status'));
  if (parameters.has('productIds')) query = query.where(isAnyOf('product.id', parameters('productIds')));
  return inOrder(query, productOrder, parameters, 'product').compile();
});
