import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { OfferEntity, PriceEntity, type PriceRow, ProductEntity, type ProductRow } from './product.entity.ts';
import { storedProductMessage } from './product.message.ts';

/**
 * Locks the product until the transaction ends, so that its prices, offers and status change one at a time.
 * NOT_FOUND (PRODUCT_NOT_FOUND).
 */
export async function lockProduct(tx: TenantTransaction, id: string): Promise<ProductRow> {
  const product = await tx.lockOne(ProductEntity, { id });
  if (!product) throw productNotFound();
  return product;
}

/** The merchant has no such product in this environment. NOT_FOUND (PRODUCT_NOT_FOUND). */
export const productNotFound = () => notFound('PRODUCT_NOT_FOUND', 'the product does not exist');

/** The current prices of a product, oldest first. */
export function currentPrices(tx: TenantTransaction, productId: string): Promise<PriceRow[]> {
  return tx.find(PriceEntity, { productId, retiredAt: null }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** The message of a product inside a transaction, with its current prices and offers. */
export async function readProduct(tx: TenantTransaction, product: ProductRow) {
  await tx.flush();
  const prices = await currentPrices(tx, product.id);
  const now = new Date();
  const current = { startsAt: { $lte: now }, $or: [{ endsAt: null }, { endsAt: { $gt: now } }] };
  const offers = await tx.find(
    OfferEntity,
    { productId: product.id, retiredAt: null, ...current },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return storedProductMessage(product, prices, offers);
}
