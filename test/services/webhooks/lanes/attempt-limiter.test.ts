import { describe, expect, it } from 'vitest';
import { AttemptLimiter } from '../../../../services/webhooks/lanes/attempt-limiter.ts';

const limitsOf = (maxConcurrentAttempts: number | null = null) => ({
  maxConcurrentAttempts,
  maxAttemptsPerSecond: null,
});

/** A limiter after attempts that have succeeded or failed, one after the other. */
function limiterAfter(outcomes: readonly boolean[], limits = limitsOf()): AttemptLimiter {
  const limiter = new AttemptLimiter();
  for (const succeeded of outcomes) limiter.ended('', succeeded, limits);
  return limiter;
}

const successes = (count: number) => Array<boolean>(count).fill(true);

describe('concurrent attempts of a subscription', () => {
  it.each([
    [null, 50],
    [200, 200],
    [5, 5],
  ])('grow to the limit while they succeed: %s to %i', (set, most) => {
    const limits = limitsOf(set);
    expect(limiterAfter([], limits).capacity(limits, 0)).toBe(Math.min(most, 10));
    expect(limiterAfter(successes(7), limits).capacity(limits, 0)).toBe(Math.min(most, 17));
    expect(limiterAfter(successes(300), limits).capacity(limits, 0)).toBe(most);
  });

  it('are halved by a failure, down to one', () => {
    expect(limiterAfter([...successes(300), false]).capacity(limitsOf(), 0)).toBe(25);
    expect(limiterAfter(Array(10).fill(false)).capacity(limitsOf(), 0)).toBe(1);
  });

  it('obey a new limit at once', () => {
    const limiter = limiterAfter(successes(300), limitsOf(200));
    expect(limiter.capacity(limitsOf(120), 0)).toBe(120);
    expect(limiter.capacity(limitsOf(), 0)).toBe(50);
  });
});
