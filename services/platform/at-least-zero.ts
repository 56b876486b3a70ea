/** An amount, but never less than zero. */
export const atLeastZero = (minor: bigint): bigint => (minor > 0n ? minor : 0n);
