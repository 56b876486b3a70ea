import { v7 as uuidv7 } from 'uuid';
import { beforeEach, expect, it } from 'vitest';
import { signingKey } from '../../../../services/webhooks/attempts/send-attempt.ts';
import type { QueuedDelivery } from '../../../../services/webhooks/lanes/delivery-reader.ts';
import { LaneDispatcher } from '../../../../services/webhooks/lanes/lane-dispatcher.ts';
import type { OpenAttempts } from '../../../../services/webhooks/lanes/open-attempts.ts';
import type { LaneSubscription } from '../../../../services/webhooks/lanes/subscription-cache.ts';
import type { SubscriptionQueue } from '../../../../services/webhooks/lanes/subscription-queue.ts';
import { TableReads } from '../../../../services/webhooks/lanes/table-reads.ts';

/**
 * What may happen between asking how many held deliveries may be sent and sending them. Reading them takes a
 * millisecond, which no test can hit in a process, so leases and attempts are replaced here.
 */

const subscription = {
  id: 'shop',
  lane: 1,
  generation: 1n,
  state: 'ERROR',
  paused: false,
  maxConcurrentAttempts: 3,
  maxAttemptsPerSecond: null,
  keysAt: () => [signingKey('whsec_AAAA')],
} as unknown as LaneSubscription;
const delivery = (id: string) =>
  ({ id, subscription_id: 'shop', lane: 1, attempt_count: 1 }) as QueuedDelivery;

let sent: string[];
let leases: { isConfirmed: boolean; epochOf: () => bigint };
let dispatcher: LaneDispatcher;
const firstWaits = { live: 60_000, test: 0 };
beforeEach(() => {
  sent = [];
  leases = { isConfirmed: true, epochOf: () => 1n };
  dispatcher = new LaneDispatcher({
    leases,
    attempts: {
      isFull: false,
      start(limits: LaneSubscription, queue: SubscriptionQueue, started: QueuedDelivery) {
        queue.started(started, limits, performance.now());
        sent.push(started.id);
      },
    } as unknown as OpenAttempts,
    reads: new TableReads(),
    subscriptionOf: (id) => ({ ...subscription, id }),
    firstWaits,
    onNeedsMore: () => undefined,
  });
  expect(dispatcher.heldCapacity(subscription)).toBe(3);
});

it('sends no held delivery after a pause, until the lease of its lane is confirmed again', () => {
  // The process is stopped here, while it reads what is held; others take its lanes.
  leases.isConfirmed = false;
  dispatcher.sendHeld(subscription, [delivery('held')]);
  expect(sent).toEqual([]);
  leases.isConfirmed = true;
  dispatcher.sendHeld(subscription, [delivery('held')]);
  expect(sent).toEqual(['held']);
});

it('sends no more held deliveries than the limit allows beside those that were started meanwhile', () => {
  dispatcher.add([delivery('new 1'), delivery('new 2')], () => true);
  dispatcher.sendHeld(subscription, [delivery('held 1'), delivery('held 2'), delivery('held 3')]);
  expect(sent).toEqual(['new 1', 'new 2', 'held 1']);
});

it('reads a retry that was requested before the result of the last attempt was known to be recorded, once that is known', () => {
  const requested = { ...delivery('retry'), environment: 'test' as const, status: 'RETRYING' as const };
  dispatcher.add([{ ...requested, attempt_count: 0 }], () => true);
  const queue = dispatcher.queueOf('shop');
  dispatcher.add([{ ...requested, attempt_count: 0 }], () => true);
  expect(queue.hasMore).toBe(false);
  dispatcher.add([requested], () => true);
  expect(queue.hasMore).toBe(false);
  queue.forget('retry');
  expect(queue.hasMore).toBe(true);
  expect(sent).toEqual(['retry']);
});

it('starts a retry that was read before it was known that the result of the last attempt is recorded', () => {
  const reads = new TableReads();
  using read = reads.begin();
  const requested = { ...delivery('retry'), environment: 'test' as const, status: 'RETRYING' as const };
  reads.outdate('retry', 1);
  dispatcher.add([{ ...requested, attempt_count: 0 }], read.isCurrent);
  expect(sent).toEqual([]);
  dispatcher.add([requested], read.isCurrent);
  expect(sent).toEqual(['retry']);
});

it('has a limited number of deliveries in memory, however many subscriptions they are of', () => {
  leases.isConfirmed = false;
  const handover = dispatcher.takeCommitted();
  let taken = 0;
  for (let n = 0; n < 60; n += 1) {
    for (let shop = 0; shop < 2_500; shop += 1) {
      const [id, subscriptionId] = [`${shop} ${n}`, `shop ${shop}`];
      const added = { id, subscriptionId, generation: 1n, ordered: false, status: 'PENDING' as const };
      const event = { id, objectId: '', body: '{}', merchantId: '', environment: 'test' as const };
      if (handover.take([{ ...event, deliveries: [added] }])) taken += 1;
    }
  }
  expect(taken).toBeGreaterThan(90_000);
  expect(taken).toBeLessThanOrEqual(100_000);
});

it('leaves what exceeds memory in the table, however many deliveries one read returns', () => {
  leases.isConfirmed = false;
  const ids = Array.from({ length: 1_000 }, (_, n) => `${n}`);
  dispatcher.add(ids.map(delivery), () => true);
  const queue = dispatcher.queueOf('shop');
  expect(ids.filter((id) => queue.has(id))).toEqual(ids.slice(0, 200));
  expect(queue.hasMore).toBe(true);
});

it('has a limited number of deliveries in memory that wait for the time of their first attempt', () => {
  const event = { objectId: '', body: '{}', merchantId: '', environment: 'live' as const };
  const added = { subscriptionId: 'shop', generation: 1n, ordered: false, status: 'PENDING' as const };
  const handover = dispatcher.takeCommitted();
  const taken = Array.from({ length: 1_000 }, () => uuidv7()).filter((id) =>
    handover.take([{ ...event, id, deliveries: [{ ...added, id }] }]),
  );
  expect(taken).toHaveLength(200);
  expect(dispatcher.full).toEqual(['shop']);
  expect(sent).toEqual([]);
});
