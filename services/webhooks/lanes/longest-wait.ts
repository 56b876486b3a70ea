/** How long ago the first of these times was, in milliseconds, by the monotonic clock; 0 without any. Takes any number of them. */
export function longestWaitMs(sinceMs: Iterable<number>): number {
  const nowMs = performance.now();
  let firstMs = nowMs;
  for (const eachMs of sinceMs) firstMs = Math.min(firstMs, eachMs);
  return nowMs - firstMs;
}
