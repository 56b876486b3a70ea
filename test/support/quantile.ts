/** The middle of an odd number of values, the upper middle of an even one. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The value below which this share of the values, less than 1, lies. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}
