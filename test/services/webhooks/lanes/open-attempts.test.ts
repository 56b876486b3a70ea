import { expect, it, vi } from 'vitest';
import type { EgressGuard } from '../../../../services/platform/egress/egress-guard.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { signingKey } from '../../../../services/webhooks/attempts/send-attempt.ts';
import type { ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';
import type { QueuedDelivery } from '../../../../services/webhooks/lanes/delivery-reader.ts';
import { OpenAttempts } from '../../../../services/webhooks/lanes/open-attempts.ts';
import type { ReportBuffer } from '../../../../services/webhooks/lanes/report-buffer.ts';
import type { LaneSubscription } from '../../../../services/webhooks/lanes/subscription-cache.ts';
import { SubscriptionQueue } from '../../../../services/webhooks/lanes/subscription-queue.ts';
import { TableReads } from '../../../../services/webhooks/lanes/table-reads.ts';

const LANE = 1;

it('records an attempt in flight if its lane is handed over between its end and the report of its result', async () => {
  const reported: ReportedAttempt[] = [];
  const refusing = { checkUrl: () => ({ ok: false, detail: 'is refused' }) } as unknown as EgressGuard;
  const attempts = new OpenAttempts({
    leases: { ownerId: 'owner', epochOf: () => 1n },
    guards: { live: refusing, test: refusing },
    reports: { add: (report: ReportedAttempt) => void reported.push(report) } as unknown as ReportBuffer,
    reads: new TableReads(),
    logger: createLogger('fatal'),
  });
  const subscription = {
    id: 'shop',
    lane: LANE,
    generation: 1n,
    maxConcurrentAttempts: null,
    maxAttemptsPerSecond: null,
    keysAt: () => [signingKey('whsec_AAAA')],
  } as unknown as LaneSubscription;
  const delivery = {
    id: 'delivery',
    subscription_id: 'shop',
    lane: LANE,
    attempt_count: 1,
    environment: 'test',
    body: '{}',
  } as QueuedDelivery;
  const onFreed = vi.fn();
  attempts.start(subscription, new SubscriptionQueue(() => 1), delivery, onFreed);
  // It ends without the event loop, whose next turn its report waits for.
  for (let n = 0; n < 100; n += 1) await Promise.resolve();
  expect(reported).toEqual([]);
  attempts.recordInFlight([LANE]);
  expect(reported).toMatchObject([{ deliveryId: 'delivery', number: 2, result: undefined }]);
  await vi.waitFor(() => expect(onFreed).toHaveBeenCalled());
  expect(reported).toMatchObject([{}, { number: 2, result: { failure: 'EGRESS_DENIED' } }]);
  attempts.recordInFlight([LANE]);
  expect(reported).toHaveLength(2);
});
