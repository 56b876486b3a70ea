import { expect, it } from 'vitest';
import type { QueuedDelivery } from '../../../../services/webhooks/lanes/delivery-reader.ts';
import { LaneDispatcher, TableLooks } from '../../../../services/webhooks/lanes/lane-dispatcher.ts';
import type { OpenAttempts } from '../../../../services/webhooks/lanes/open-attempts.ts';
import type { LaneSubscription } from '../../../../services/webhooks/lanes/subscription-cache.ts';

it('sends no held delivery after a pause, until the lease of its lane is confirmed again', () => {
  const sent: string[] = [];
  const leases = { isConfirmed: true, epochOf: () => 1n };
  const dispatcher = new LaneDispatcher({
    leases,
    attempts: {
      isFull: false,
      start: (_subscription: unknown, _queue: unknown, { id }: QueuedDelivery) => sent.push(id),
    } as unknown as OpenAttempts,
    looks: new TableLooks(),
    subscriptionOf: () => undefined,
    firstWaits: { live: 0, test: 0 },
    onNeedsMore: () => undefined,
  });
  const limits = { maxConcurrentAttempts: null, maxAttemptsPerSecond: null };
  const state = { id: 'shop', state: 'ERROR', paused: false, secretsAt: () => ['whsec_'] };
  const subscription = { ...limits, ...state } as unknown as LaneSubscription;
  const held = { id: 'held' } as QueuedDelivery;
  expect(dispatcher.heldCapacity(subscription)).toBeGreaterThan(0);
  // The process is stopped here, while it reads what is held; others take its lanes.
  leases.isConfirmed = false;
  dispatcher.sendHeld(subscription, [held]);
  expect(sent).toEqual([]);
  leases.isConfirmed = true;
  dispatcher.sendHeld(subscription, [held]);
  expect(sent).toEqual(['held']);
});
