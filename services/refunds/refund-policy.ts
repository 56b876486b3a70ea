/** A merchant's other refund cases requested in the 24 hours before a decision. Amount in centavos. */
export type RecentRefunds = Readonly<{ count: number; amountMinor: bigint }>;

/** How much a merchant may refund in 24 hours without review; both limits are inclusive. */
export type RefundLimits = Readonly<{ maxCount24h: number; maxAmountMinor24h: bigint }>;

export type LimitBlocker = 'REFUND_FREQUENCY_24H' | 'REFUND_VOLUME_24H';

/** The limits that a refund of `amountMinor`, counted with the merchant's recent ones, exceeds. */
export function limitBlockers(
  amountMinor: bigint,
  recent: RecentRefunds,
  limits: RefundLimits,
): LimitBlocker[] {
  const blockers: LimitBlocker[] = [];
  if (recent.count + 1 > limits.maxCount24h) blockers.push('REFUND_FREQUENCY_24H');
  if (recent.amountMinor + amountMinor > limits.maxAmountMinor24h) blockers.push('REFUND_VOLUME_24H');
  return blockers;
}
