import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RetentionActivities } from './retention.activities.ts';
import type { RetentionResult } from './retention.contract.ts';

const { applyRetention } = proxyActivities<RetentionActivities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '50 minutes',
  retry: { maximumInterval: '1 minute' },
});

/** Bounds the history; the next run continues. */
const CALLS_PER_RUN = 100;

/** Drops the webhook partitions whose retention period has ended. @returns which. */
export async function applyWebhookRetention(): Promise<RetentionResult> {
  let done: RetentionResult = {
    createdPartitions: [],
    droppedPartitions: [],
    waitingPartitions: [],
    expiredDeliveries: 0,
  };
  for (let calls = 0; calls < CALLS_PER_RUN; calls += 1) {
    const { more, ...step } = await applyRetention();
    done = {
      createdPartitions: [...done.createdPartitions, ...step.createdPartitions],
      droppedPartitions: [...done.droppedPartitions, ...step.droppedPartitions],
      waitingPartitions: step.waitingPartitions,
      expiredDeliveries: done.expiredDeliveries + step.expiredDeliveries,
    };
    setCurrentDetails(detailsOf(done));
    if (!more) break;
  }
  return done;
}

function detailsOf(done: RetentionResult): string {
  const listed = (names: readonly string[]) => names.join(', ') || 'none';
  return [
    `Dropped: ${listed(done.droppedPartitions)}.`,
    `In use, dropped by the next run: ${listed(done.waitingPartitions)}.`,
    `Created: ${listed(done.createdPartitions)}.`,
    `Deliveries expired: ${done.expiredDeliveries}.`,
  ].join('\n\n');
}
