import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { timestampOf } from '../platform/timestamps.ts';
import {
  OfferEntity,
  type OfferRow,
  PriceEntity,
  type PriceRow,
  ProductEntity,
  type ProductRow,
} from './product.entity.ts';
import { productEventData } from './product.event.ts';
import { productMessage } from './product.message.ts';
import type { ProductReadRow } from './product.queries.ts';

/** The product, locked until the transaction ends: prices, offers and status change one at a time. */
export async function lockProduct(tx: TenantTransaction, id: string): Promise<ProductRow> {
  const product = await tx.lockOne(ProductEntity, { id });
  if (!product) throw productNotFound();
  return product;
}

/** What every RPC answers for a product that this merchant does not have in this environment. */
export const productNotFound = () => notFound('PRODUCT_NOT_FOUND', 'there is no such product');

type ProductEventType = 'product.created.v1' | 'product.updated.v1' | 'product.archived.v1';

/** Publishes an event of a product, with the product as it now stands. */
export async function publishEvent(
  tx: TenantTransaction,
  type: ProductEventType,
  product: ProductRow,
  occurredAt: Date,
): Promise<void> {
  await tx.publish({ type, objectId: product.id, data: productEventData(product), occurredAt });
}

/** The current prices of a product, oldest first. */
export function currentPrices(tx: TenantTransaction, productId: string): Promise<PriceRow[]> {
  return tx.find(PriceEntity, { productId, retiredAt: null }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** The product as it stands inside a transaction, as the wire's. */
export async function viewProduct(tx: TenantTransaction, product: ProductRow) {
  await tx.flush();
  const prices = await currentPrices(tx, product.id);
  const now = new Date();
  const underWay = { startsAt: { $lte: now }, $or: [{ endsAt: null }, { endsAt: { $gt: now } }] };
  const offers = await tx.find(
    OfferEntity,
    { productId: product.id, retiredAt: null, ...underWay },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return productMessage(readRowOf(product, prices, offers));
}

/** A price as a hot read answers it. */
export const priceReadRow = (price: PriceRow): ProductReadRow['prices'][number] => ({
  id: price.id,
  amount_minor: Number(price.amountMinor),
  type: price.type,
  interval: price.interval ?? null,
  interval_count: price.intervalCount ?? null,
  trial_days: price.trialDays ?? null,
  max_installments: price.maxInstallments,
  created_ms: price.createdAt.getTime(),
});

/** An offer as a hot read answers it. */
export const offerReadRow = (offer: OfferRow): ProductReadRow['offers'][number] => ({
  id: offer.id,
  price_id: offer.priceId,
  name: offer.name,
  checkout_url: offer.checkoutUrl,
  payment_methods: offer.paymentMethods,
  max_installments: offer.maxInstallments,
  starts_ms: offer.startsAt.getTime(),
  ends_ms: offer.endsAt?.getTime() ?? null,
});

function readRowOf(product: ProductRow, prices: PriceRow[], offers: OfferRow[]): ProductReadRow {
  return {
    merchant_id: product.merchantId,
    environment: product.environment,
    id: product.id,
    name: product.name,
    description: product.description ?? null,
    product_type: product.productType,
    status: product.status,
    refund_window_days: product.refundWindowDays,
    image_asset_id: product.imageAssetId ?? null,
    image_url: product.imageUrl ?? null,
    created_at: timestampOf(product.createdAt),
    updated_at: timestampOf(product.updatedAt),
    archived_at: timestampOf(product.archivedAt) ?? null,
    prices: prices.map(priceReadRow),
    offers: offers.map(offerReadRow),
  };
}
