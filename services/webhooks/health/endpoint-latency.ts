/** Upper bounds of the classes of latencies that are counted, in milliseconds; no attempt takes longer than the last. */
export const LATENCY_BOUNDS_MS = [
  5, 10, 15, 25, 40, 60, 100, 150, 250, 400, 600, 1_000, 1_500, 2_500, 4_000, 6_000, 10_000, 15_000,
] as const;

export function latencyClass(latencyMs: number): number {
  const index = LATENCY_BOUNDS_MS.findIndex((bound) => latencyMs <= bound);
  return index === -1 ? LATENCY_BOUNDS_MS.length - 1 : index;
}

/**
 * The bound within which a share of the responses came, in milliseconds; undefined without responses.
 * @param counts by class of latency.
 */
export function latencyQuantileMs(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let reached = 0;
  for (const [index, count] of counts.entries()) {
    reached += count;
    if (reached >= total * share) return LATENCY_BOUNDS_MS[index];
  }
  return LATENCY_BOUNDS_MS.at(-1);
}
