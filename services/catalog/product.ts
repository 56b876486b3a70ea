import { failedPrecondition, invalidArgument } from '../platform/errors.ts';

export type ProductType = 'ONE_TIME' | 'SUBSCRIPTION';
export type ProductStatus = 'DRAFT' | 'ACTIVE' | 'ARCHIVED';
export type PriceType = 'ONE_TIME' | 'RECURRING';
export type PriceInterval = 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';
export type PaymentMethodName = 'INSTANT_TRANSFER' | 'CARD';

/** DRAFT to ACTIVE, with a current price. PRODUCT_STATE, PRODUCT_WITHOUT_PRICE. */
export function activated(status: ProductStatus, currentPrices: number): ProductStatus {
  requireStatus(status, 'DRAFT');
  if (currentPrices === 0) {
    throw failedPrecondition('PRODUCT_WITHOUT_PRICE', 'a product needs a current price to be activated');
  }
  return 'ACTIVE';
}

/** ACTIVE to ARCHIVED. PRODUCT_STATE. */
export function archived(status: ProductStatus): ProductStatus {
  requireStatus(status, 'ACTIVE');
  return 'ARCHIVED';
}

/** Prices and offers change until the product is archived. PRODUCT_STATE. */
export function requireSellable(status: ProductStatus): void {
  if (status === 'ARCHIVED') throw wrongStatus(status);
}

/** An active product keeps a current price. LAST_PRICE_OF_ACTIVE_PRODUCT. */
export function requireAnotherPrice(status: ProductStatus, otherCurrentPrices: number): void {
  if (status === 'ACTIVE' && otherCurrentPrices === 0) {
    throw failedPrecondition(
      'LAST_PRICE_OF_ACTIVE_PRODUCT',
      'an active product keeps at least one current price',
    );
  }
}

/** Interval and its count stand exactly with recurring prices. PRICE_INTERVAL. */
export function requireIntervalFor(type: PriceType, interval: unknown, intervalCount: unknown): void {
  const recurring = type === 'RECURRING';
  if (recurring === (interval !== undefined) && recurring === (intervalCount !== undefined)) return;
  throw invalidArgument(
    'PRICE_INTERVAL',
    'interval, interval_count: both are required of a recurring price and refused for another',
    { field: 'interval' },
  );
}

/** An offer ends after it starts. OFFER_PERIOD. */
export function requirePeriod(startsAt: Date, endsAt: Date | undefined): void {
  if (endsAt && endsAt <= startsAt) {
    throw invalidArgument('OFFER_PERIOD', 'ends_at: must be later than starts_at', { field: 'ends_at' });
  }
}

function requireStatus(status: ProductStatus, required: ProductStatus): void {
  if (status !== required) throw wrongStatus(status);
}

const wrongStatus = (status: ProductStatus) =>
  failedPrecondition('PRODUCT_STATE', `the product is ${status}`, { state: status });
