import { median } from '../support/quantile.ts';

const WARM_UP_ROUNDS = 100;
/** How often each of both is timed. */
export const ROUNDS = 1_001;

/** The median milliseconds of both, measured alternately, so that a machine whose speed drifts favors neither. */
export async function timeAlternately(small: () => Promise<unknown>, large: () => Promise<unknown>) {
  const times = { small: [] as number[], large: [] as number[] };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    const tookSmall = await timed(small);
    const tookLarge = await timed(large);
    if (round < 0) continue;
    times.small.push(tookSmall);
    times.large.push(tookLarge);
  }
  return { small: median(times.small), large: median(times.large) };
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}
