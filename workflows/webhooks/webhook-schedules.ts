import { type Client, ScheduleOverlapPolicy } from '@temporalio/client';
import { ensureSchedule } from '../temporal/schedules.ts';
import * as retention from './retention.contract.ts';

/**
 * Has Temporal apply the retention every hour. A run that was missed is not made up for: after a long stop what waits
 * is delivered before it may be too old. Harmless when it is there already.
 */
export async function ensureWebhookSchedules(client: Client): Promise<void> {
  await ensureSchedule(
    client,
    retention,
    { intervals: [{ every: '1 hour', offset: '17 minutes' }] },
    { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
  );
}
