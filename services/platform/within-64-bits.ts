import { outOfRange } from './errors.ts';

/** Whether a message can carry a sum. */
export const fits64Bits = (sum: bigint): boolean => BigInt.asIntN(64, sum) === sum;

/** A sum that a message can carry. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when it exceeds 64 bits. */
export function within64Bits(sum: bigint): bigint {
  if (fits64Bits(sum)) return sum;
  throw outOfRange('AMOUNT_OUT_OF_RANGE', 'a sum exceeds 64 bits', { sum: String(sum) });
}
