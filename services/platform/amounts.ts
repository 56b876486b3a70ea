/** The largest amount, and the largest sum of a day: JSON numbers are exact up to it. */
export const MAX_AMOUNT_MINOR = 9_007_199_254_740_991n;

export const CURRENCY = 'BRL';

/** An amount, but never less than zero. */
export const atLeastZero = (minor: bigint): bigint => greatest(minor, 0n);

export const least = (...amounts: readonly [bigint, ...bigint[]]): bigint =>
  amounts.reduce((one, other) => (one < other ? one : other));

export const greatest = (...amounts: readonly [bigint, ...bigint[]]): bigint =>
  amounts.reduce((one, other) => (one > other ? one : other));

/** The sum of the amounts of items; zero without any. */
export const sumOf = <Item>(items: Iterable<Item>, amountOf: (item: Item) => bigint): bigint => {
  let sum = 0n;
  for (const item of items) sum += amountOf(item);
  return sum;
};
