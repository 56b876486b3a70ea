import { describe, expect, it } from 'vitest';
import { SubscriptionQueue } from '../../../../services/webhooks/lanes/subscription-queue.ts';

const limitsOf = (maxConcurrentAttempts: number | null = null) => ({
  maxConcurrentAttempts,
  maxAttemptsPerSecond: null,
});

/** A queue after attempts that have succeeded or failed, one after the other. */
function queueAfter(outcomes: readonly boolean[], limits = limitsOf()): SubscriptionQueue {
  const queue = new SubscriptionQueue(() => 200);
  for (const succeeded of outcomes) queue.ended('', succeeded, limits);
  return queue;
}

const successes = (count: number) => Array<boolean>(count).fill(true);

describe('concurrent attempts of a subscription', () => {
  it.each([
    [null, 50],
    [200, 200],
    [5, 5],
  ])('grow to the limit while they succeed: %s to %i', (set, most) => {
    const limits = limitsOf(set);
    expect(queueAfter([], limits).capacity(limits, 0)).toBe(Math.min(most, 10));
    expect(queueAfter(successes(7), limits).capacity(limits, 0)).toBe(Math.min(most, 17));
    expect(queueAfter(successes(300), limits).capacity(limits, 0)).toBe(most);
  });

  it('are halved by a failure, down to one', () => {
    expect(queueAfter([...successes(300), false]).capacity(limitsOf(), 0)).toBe(25);
    expect(queueAfter(Array(10).fill(false)).capacity(limitsOf(), 0)).toBe(1);
  });

  it('obey a new limit at once', () => {
    const queue = queueAfter(successes(300), limitsOf(200));
    expect(queue.capacity(limitsOf(120), 0)).toBe(120);
    expect(queue.capacity(limitsOf(), 0)).toBe(50);
  });
});
