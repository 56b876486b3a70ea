/** A month of interest has 30 days; a basis point is a ten-thousandth. */
const RATE_UNIT = 30n * 10_000n;

/** Simple interest on one installment: amount · bps · days / (30 · 10000), rounded half up. */
export function advanceFeeMinor(amountMinor: bigint, monthlyRateBps: number, days: number): bigint {
  const product = amountMinor * BigInt(monthlyRateBps) * BigInt(days);
  return (2n * product + RATE_UNIT) / (2n * RATE_UNIT);
}
