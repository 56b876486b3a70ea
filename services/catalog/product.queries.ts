import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { OfferEntity, PriceEntity, ProductEntity } from './product.entity.ts';
import type { PaymentMethodName, PriceInterval, PriceType, ProductStatus, ProductType } from './product.ts';

interface CatalogTables {
  'catalog.product': InferKyselyTable<typeof ProductEntity>;
  'catalog.price': InferKyselyTable<typeof PriceEntity>;
  'catalog.offer': InferKyselyTable<typeof OfferEntity>;
}

/** A product as hot reads answer it: with its current prices and offers, times inside them as epoch milliseconds. */
export interface ProductReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  name: string;
  description: string | null;
  product_type: ProductType;
  status: ProductStatus;
  refund_window_days: number;
  image_asset_id: string | null;
  image_url: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  archived_at: Timestamp | null;
  prices: {
    id: string;
    amount_minor: number;
    type: PriceType;
    interval: PriceInterval | null;
    interval_count: number | null;
    trial_days: number | null;
    max_installments: number;
    created_ms: number;
  }[];
  offers: {
    id: string;
    price_id: string;
    name: string;
    checkout_url: string;
    payment_methods: PaymentMethodName[];
    max_installments: number;
    starts_ms: number;
    ends_ms: number | null;
  }[];
}

const db = queryBuilder<CatalogTables>();

const milliseconds = (column: string) => sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`;

function products(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('catalog.product as product')
    .where('product.merchant_id', '=', parameters('merchantId'))
    .where('product.environment', '=', parameters('environment'))
    .select([
      ...([
        'product.merchant_id',
        'product.environment',
        'product.id',
        'product.name',
        'product.description',
      ] as const),
      ...(['product.product_type', 'product.status', 'product.refund_window_days'] as const),
      ...(['product.image_asset_id', 'product.image_url'] as const),
      ...(['product.created_at', 'product.updated_at', 'product.archived_at'] as const),
    ])
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('catalog.price as price')
          .whereRef('price.merchant_id', '=', 'product.merchant_id')
          .whereRef('price.environment', '=', 'product.environment')
          .whereRef('price.product_id', '=', 'product.id')
          .where('price.retired_at', 'is', null)
          .select(['price.id', 'price.amount_minor', 'price.type', 'price.interval', 'price.interval_count'])
          .select([
            'price.trial_days',
            'price.max_installments',
            milliseconds('price.created_at').as('created_ms'),
          ])
          .orderBy('price.created_at')
          .orderBy('price.id'),
      ).as('prices'),
      jsonArrayFrom(
        eb
          .selectFrom('catalog.offer as offer')
          .whereRef('offer.merchant_id', '=', 'product.merchant_id')
          .whereRef('offer.environment', '=', 'product.environment')
          .whereRef('offer.product_id', '=', 'product.id')
          .where('offer.retired_at', 'is', null)
          .where('offer.starts_at', '<=', sql<Date>`now()`)
          .where((or) => or.or([or('offer.ends_at', 'is', null), or('offer.ends_at', '>', sql<Date>`now()`)]))
          .select(['offer.id', 'offer.price_id', 'offer.name', 'offer.checkout_url', 'offer.payment_methods'])
          .select(['offer.max_installments', milliseconds('offer.starts_at').as('starts_ms')])
          .select(milliseconds('offer.ends_at').as('ends_ms'))
          .orderBy('offer.created_at')
          .orderBy('offer.id'),
      ).as('offers'),
    ]);
}

interface ProductKey extends Tenant {
  readonly id: string;
}

/** One product by its id. */
export const selectProduct = prepareRead<ProductKey, ProductReadRow>((parameters) =>
  products(parameters).where('product.id', '=', parameters('id')).$castTo<ProductReadRow>().compile(),
);

interface ProductPage extends Tenant, PageRange {
  readonly status: ProductStatus | undefined;
}

/** Products are listed newest first. */
export const productOrder: ListOrder<ProductReadRow> = { columns: ['created_at', 'id'], direction: 'desc' };

/** A page of products in their order. */
export const selectProducts = prepareRead<ProductPage, ProductReadRow>((parameters) => {
  let query = products(parameters);
  if (parameters.has('status')) query = query.where('product.status', '=', parameters('status'));
  return inOrder(query, productOrder, parameters, 'product').$castTo<ProductReadRow>().compile();
});
