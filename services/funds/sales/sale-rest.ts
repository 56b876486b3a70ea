import { atLeastZero, greatest, least, sumOf } from '../../platform/amounts.ts';
import type { Block, OpenBlock } from './installment.ts';

/**
 * A sale, and what its refunds and lost disputes have used of it. Its rest is what was captured less what is used: a sale of
 * 10,000 centavos with a refund of 3,000 has a rest of 7,000. A dispute of 9,000 then holds and deducts 7,000, because the
 * customer cannot get the same money twice. README.md has the complete example.
 */
export interface UsedSale {
  /** Captured amount in centavos; undefined until the sale is recorded. */
  readonly capturedMinor: bigint | undefined;
  /** The debits of the sale's refunds that have not been reversed, by refund case. */
  readonly refundsMinor: ReadonlyMap<string, bigint>;
  /** The amount deducted for lost disputes of the sale, in centavos. */
  readonly lostMinor: bigint;
}

/** What a block was opened for: an amount in centavos or, with null, the rest of its sale. */
type WithAmount<B> = B & { readonly amountMinor: bigint | null };

/** A dispute of an amount of a sale, which was lost. Amounts in centavos. */
export interface LostDispute {
  readonly sourceId: string;
  readonly amountMinor: bigint;
  /** The amount deducted for it so far, from the sale and from other funds. */
  readonly deductedMinor: bigint;
}

/**
 * The most that a refund may use because of its sale: the rest of the sale. Undefined while nothing of the sale is used: the
 * first refund is limited by its payment, and may exceed a sale whose recorded amount is less.
 */
export function refundLimitMinor(sale: UsedSale): bigint | undefined {
  return usedMinor(sale) === 0n ? undefined : restMinor(sale);
}

/** Whether the rest of its sale limits a block. */
export const isLimitedByRest = ({ reason, amountMinor }: WithAmount<Pick<OpenBlock, 'reason'>>) =>
  amountMinor === null || reason === 'HOLD_OR_DISPUTE';

/**
 * The amount that an open block should hold, whether or not the sale has funds for it. Undefined while it depends on the
 * rest of a sale that is not recorded.
 */
export function wantedMinor(
  { reason, sourceId, amountMinor }: WithAmount<Block>,
  sale: UsedSale,
): bigint | undefined {
  if (amountMinor === null) return restMinor(sale);
  switch (reason) {
    case 'REFUND_IN_PROGRESS':
      return atLeastZero(amountMinor - (sale.refundsMinor.get(sourceId) ?? 0n));
    case 'HOLD_OR_DISPUTE':
      return disputableMinor(amountMinor, sale);
    case 'KYC_PENDING':
    case 'COMPLIANCE_HOLD':
      return amountMinor;
    default:
      return reason satisfies never;
  }
}

/**
 * What must be deducted in addition for lost disputes of a sale after a refund or another lost dispute of it was reversed: if
 * a refund of 3,000 had left 7,000 for a dispute of 9,000, the other 2,000. The dispute that was lost first comes first.
 */
export function deductionsOnReversal(
  disputes: readonly LostDispute[],
  before: UsedSale,
  after: UsedSale,
): { sourceId: string; amountMinor: bigint }[] {
  let lostMinor = after.lostMinor;
  return disputes.flatMap(({ sourceId, amountMinor, deductedMinor }) => {
    // What the dispute itself has deducted does not limit it.
    const hadMinor = disputableMinor(amountMinor, { ...before, lostMinor: before.lostMinor - deductedMinor });
    const hasMinor = disputableMinor(amountMinor, { ...after, lostMinor: lostMinor - deductedMinor });
    // If a block was lost without its unmet part, that part is not deducted now either.
    const doneMinor = greatest(hadMinor ?? 0n, deductedMinor);
    const dueMinor = (hasMinor ?? 0n) - doneMinor;
    if (dueMinor <= 0n) return [];
    lostMinor += dueMinor;
    return [{ sourceId, amountMinor: dueMinor }];
  });
}

/**
 * How much of a dispute's amount the sale has left for it. Before the sale is recorded, that is all of it, unless something of
 * the sale is used, which may be the same money: then undefined.
 */
function disputableMinor(amountMinor: bigint, sale: UsedSale): bigint | undefined {
  const leftMinor = restMinor(sale);
  if (leftMinor === undefined) return usedMinor(sale) === 0n ? amountMinor : undefined;
  return least(amountMinor, leftMinor);
}

/** The rest of a sale; undefined until the sale is recorded. */
function restMinor(sale: UsedSale): bigint | undefined {
  const { capturedMinor } = sale;
  return capturedMinor === undefined ? undefined : atLeastZero(capturedMinor - usedMinor(sale));
}

function usedMinor({ refundsMinor, lostMinor }: UsedSale): bigint {
  return lostMinor + sumOf(refundsMinor.values(), (minor) => minor);
}
