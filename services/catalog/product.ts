import { type FieldFault, failedPrecondition, invalidArgument } from '../platform/errors.ts';
import { requireNoFaults } from '../platform/request-faults.ts';

export type ProductType = 'ONE_TIME' | 'SUBSCRIPTION';
export type ProductStatus = 'DRAFT' | 'ACTIVE' | 'ARCHIVED';
export type PriceType = 'ONE_TIME' | 'RECURRING';
export type PriceInterval = 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';
export type PaymentMethodName = 'INSTANT_TRANSFER' | 'CARD';

/** The transition from DRAFT to ACTIVE, which requires a current price. PRODUCT_STATE, PRODUCT_WITHOUT_PRICE. */
export function activated(status: ProductStatus, currentPrices: number): ProductStatus {
  requireStatus(status, 'DRAFT');
  if (currentPrices === 0) {
    throw failedPrecondition(
      'PRODUCT_WITHOUT_PRICE',
      'a product needs a current price before it can be activated',
      {
        state: status,
      },
    );
  }
  return 'ACTIVE';
}

/** The transition from ACTIVE to ARCHIVED. PRODUCT_STATE. */
export function archived(status: ProductStatus): ProductStatus {
  requireStatus(status, 'ACTIVE');
  return 'ARCHIVED';
}

/** The fields of a product that can be updated until it is archived. */
export interface ProductContent {
  readonly name: string;
  readonly description: string | null;
  readonly refundWindowDays: number;
  readonly imageAssetId: string | null;
  readonly imageUrl: string | null;
}

/** The content fields by their proto names, and whether each may be absent. */
const CONTENT_FIELDS: Readonly<Record<string, { key: keyof ProductContent; optional: boolean }>> = {
  name: { key: 'name', optional: false },
  description: { key: 'description', optional: true },
  refund_window_days: { key: 'refundWindowDays', optional: false },
  image_asset_id: { key: 'imageAssetId', optional: true },
  image_url: { key: 'imageUrl', optional: true },
};

/**
 * The fields in the mask (by proto name) with their new values; null clears a field. Rejects a value whose field is not
 * in the mask, because the caller would believe it stored. UPDATE_MASK, with every fault.
 */
export function contentChange(
  mask: readonly string[],
  given: Partial<ProductContent>,
): Partial<ProductContent> {
  const faults: FieldFault[] = [];
  const addFault = (field: string, must: string) => faults.push({ field, must, reason: 'UPDATE_MASK' });
  if (mask.length === 0) addFault('update_mask', 'must name at least one field');
  const change: Record<string, unknown> = {};
  for (const path of mask) {
    const field = Object.hasOwn(CONTENT_FIELDS, path) ? CONTENT_FIELDS[path] : undefined;
    if (!field) {
      addFault('update_mask', 'names a field that cannot be updated');
      continue;
    }
    const value = given[field.key] ?? null;
    if (value === null && !field.optional) addFault(path, 'cannot be cleared');
    change[field.key] = value;
  }
  for (const [path, { key }] of Object.entries(CONTENT_FIELDS)) {
    if (given[key] != null && !(key in change)) addFault(path, 'has a value but is not in update_mask');
  }
  requireNoFaults(faults);
  return change;
}

/** Prices, offers and content can change until the product is archived. PRODUCT_STATE. */
export function requireUnarchived(status: ProductStatus): void {
  if (status === 'ARCHIVED') throw wrongStatus(status);
}

/** An active product must keep a current price. LAST_PRICE_OF_ACTIVE_PRODUCT. */
export function requireAnotherPrice(status: ProductStatus, otherCurrentPrices: number): void {
  if (status === 'ACTIVE' && otherCurrentPrices === 0) {
    throw failedPrecondition(
      'LAST_PRICE_OF_ACTIVE_PRODUCT',
      'an active product must keep at least one current price',
      { state: status },
    );
  }
}

/** An offer must end after it starts, even if it starts now. OFFER_PERIOD. */
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
