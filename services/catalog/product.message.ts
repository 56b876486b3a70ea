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
import { environmentEnum } from '../platform/tenant.ts';
import type { ProductReadRow } from './product.queries.ts';

const CURRENCY = 'BRL';

/** A row of a hot read as the wire's product. */
export function productMessage(row: ProductReadRow): Product {
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
    prices: row.prices.map(priceMessage),
    offers: row.offers.map(offerMessage),
  };
}

/** A price of a read product as the wire's. */
export function priceMessage(row: ProductReadRow['prices'][number]): Price {
  return {
    $typeName: 'payments.catalog.v1.Price',
    id: row.id,
    currency: CURRENCY,
    amountMinor: BigInt(row.amount_minor),
    type: PriceType[row.type],
    interval: row.interval === null ? undefined : PriceInterval[row.interval],
    intervalCount: row.interval_count ?? undefined,
    trialDays: row.trial_days ?? undefined,
    maxInstallments: row.max_installments,
    createdAt: timestampFromMs(row.created_ms),
  };
}

/** An offer of a read product as the wire's. */
export function offerMessage(row: ProductReadRow['offers'][number]): Offer {
  return {
    $typeName: 'payments.catalog.v1.Offer',
    id: row.id,
    priceId: row.price_id,
    name: row.name,
    checkoutUrl: row.checkout_url,
    paymentMethods: row.payment_methods.map((method) => PaymentMethod[method]),
    maxInstallments: row.max_installments,
    startsAt: timestampFromMs(row.starts_ms),
    endsAt: row.ends_ms === null ? undefined : timestampFromMs(row.ends_ms),
  };
}
