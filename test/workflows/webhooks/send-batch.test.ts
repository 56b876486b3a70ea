import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { DeliveryStatus, RetryStartSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  createDeliveryActivities,
  type DeliveryActivityDeps,
} from '../../../workflows/webhooks/delivery.activities.ts';

const outcome = (deliveryId: string) => ({
  status: DeliveryStatus.RETRYING,
  delayMs: 5_000,
  statusMessage: 'attempt 1: HTTP 500',
  retry: create(RetryStartSchema, { deliveryId }),
});

/** The activity over attempts that have all failed; Temporal refuses the retry of `refused`. */
function activityWith(refused: string, started: string[]) {
  const deps = {
    eagerAttempts: { join: async (_batchId: string, deliveryIds: string[]) => deliveryIds.map(outcome) },
    startRetry: async ({ deliveryId }: { deliveryId: string }) => {
      if (deliveryId === refused) throw new Error('refused');
      started.push(deliveryId);
    },
  };
  return createDeliveryActivities(deps as unknown as DeliveryActivityDeps).sendBatch;
}

const BATCH = { batchId: 'batch', deliveryIds: ['1', '2', '3'], startedEagerly: false };

it('a batch has started the retry workflows of all that failed when it ends', async () => {
  const started: string[] = [];
  expect(await activityWith('none', started)(BATCH)).toEqual({ succeeded: 0, retrying: 3, skipped: 0 });
  expect(started).toEqual(['1', '2', '3']);
});

it('a retry workflow that Temporal refuses keeps no other from its start, and the batch is tried again', async () => {
  const started: string[] = [];
  await expect(activityWith('1', started)(BATCH)).rejects.toThrow('refused');
  expect(started).toEqual(['2', '3']);
});
