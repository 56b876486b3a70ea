import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type Offer,
  PaymentMethod,
  type Price,
  PriceInterval,
  PriceType,
  type Product,
  ProductStatus,
  ProductType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { CURRENCY } from '../platform/amounts.ts';
import { type ReadRowOf, readRowOf } from '../platform/reads/read-table.ts';
import { environmentEnum } from '../platform/tenant.ts';
import type { OfferRow, PriceRow, ProductRow } from './product.entity.ts';
import type { ProductReadRow } from './product.queries.ts';

export function productMessage(row: ProductReadRow): Product {
  return productWith(
    row,
    row.prices.map((price) =>
      priceFrom({
        ...price,
        amount_minor: BigInt(price.amount_minor),
        created_at: timestampFromMs(price.created_ms),
      }),
    ),
    row.offers.map((offer) =>
      offerFrom({
        ...offer,
        starts_at: timestampFromMs(offer.starts_ms),
        ends_at: offer.ends_ms === null ? null : timestampFromMs(offer.ends_ms),
      }),
    ),
  );
}

/** The message of a product inside a transaction, with these prices and offers. */
export const storedProductMessage = (
  product: ProductRow,
  prices: readonly PriceRow[],
  offers: readonly OfferRow[],
): Product => productWith(readRowOf(product), prices.map(storedPriceMessage), offers.map(storedOfferMessage));

/** The message of a price inside a transaction. */
export const storedPriceMessage = (price: PriceRow): Price => priceFrom(readRowOf(price));

/** The message of an offer inside a transaction. */
export const storedOfferMessage = (offer: OfferRow): Offer => offerFrom(readRowOf(offer));

function productWith(row: ReadRowOf<ProductRow>, prices: Price[], offers: Offer[]): Product {
  return {
    $typeName: 'payments.catalog.v1.Product',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    name: row.name,
    description: row.description ?? undefined,
    productType: ProductType[row.product_type],
    status: ProductStatus[row.status],
    refundWindowDays: row.refund_window_days,
    imageAssetId: row.image_asset_id ?? undefined,
    imageUrl: row.image_url ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at ?? undefined,
    prices,
    offers,
  };
}

type InternalColumn = 'merchant_id' | 'environment' | 'product_id' | 'retired_at';

function priceFrom(row: Omit<ReadRowOf<PriceRow>, InternalColumn>): Price {
  return {
    $typeName: 'payments.catalog.v1.Price',
    id: row.id,
    currency: CURRENCY,
    amountMinor: row.amount_minor,
    type: PriceType[row.type],
    interval: row.interval ? PriceInterval[row.interval] : undefined,
    intervalCount: row.interval_count ?? undefined,
    trialDays: row.trial_days ?? undefined,
    maxInstallments: row.max_installments,
    createdAt: row.created_at,
  };
}

function offerFrom(row: Omit<ReadRowOf<OfferRow>, InternalColumn | 'created_at'>): Offer {
  return {
    $typeName: 'payments.catalog.v1.Offer',
    id: row.id,
    priceId: row.price_id,
    name: row.name,
    checkoutUrl: row.checkout_url,
    paymentMethods: row.payment_methods.map((method) => PaymentMethod[method]),
    maxInstallments: row.max_installments,
    startsAt: row.starts_at,
    endsAt: row.ends_at ?? undefined,
  };
}
