import { beforeEach, describe, expect, it } from 'vitest';
import type { QueuedDelivery } from '../../../../services/webhooks/lanes/delivery-reader.ts';
import { SubscriptionQueue } from '../../../../services/webhooks/lanes/subscription-queue.ts';

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
    expect(queue.reserve({ id: 'delivery', attempt_count: 0 } as QueuedDelivery)).toBe(true);
    queue.delay('delivery');
    queue.clear();
    expect(queue.isIdle).toBe(true);
    expect(queue.endDelay('delivery')).toBe(false);
  });
});
