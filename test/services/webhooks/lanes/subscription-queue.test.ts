import { beforeEach, describe, expect, it } from 'vitest';
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

const last = { id: 'delivery', resent: false };

describe('the deliveries of a subscription in the table', () => {
  let queue: SubscriptionQueue;
  beforeEach(() => {
    queue = new SubscriptionQueue(() => 200);
    queue.readFromStart();
  });
  const readPage = (end: typeof last | undefined, meanwhile = () => {}) => {
    const after = queue.startPage();
    meanwhile();
    queue.endPage(after, end);
  };

  it('are read once more from the start before new ones are taken directly', () => {
    readPage(last);
    readPage(undefined);
    expect(queue.takesNew).toBe(false);
    readPage(undefined);
    expect(queue.takesNew).toBe(true);
  });

  it.each(['leftInTable', 'readFromStart', 'restart'] as const)('are read again: %s', (change) => {
    readPage(undefined, () => queue[change]());
    expect(queue.hasMore).toBe(true);
    readPage(undefined);
    expect(queue.hasMore).toBe(false);
  });

  it('are read from the start after resent ones, because newer events come before these', () => {
    readPage({ id: 'delivery', resent: true });
    expect(queue.startReading()).toBe(true);
    expect(queue.startPage()).toBeUndefined();
  });

  it('are left to the new owner of the lane', () => {
    expect(queue.reserve('delivery')).toBe(true);
    queue.delay('delivery');
    queue.laneLost();
    expect(queue.isIdle).toBe(true);
    expect(queue.endDelay('delivery')).toBe(false);
  });
});

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
