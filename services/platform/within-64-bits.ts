import { outOfRange } from './errors.ts';

/** A sum that a message can carry. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when it exceeds 64 bits. */
export function within64Bits(sum: bigint): bigint {
  if (BigInt.asIntN(64, sum) === sum) return sum;
  throw outOfRange('AMOUNT_OUT_OF_RANGE', 'a sum exceeds 64 bits', { sum: String(sum) });
}
