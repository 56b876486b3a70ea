import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { ACCOUNT_TIME_ZONE } from '../../services/platform/civil-date.ts';
import { TASK_QUEUE } from '../task-queue.ts';
import { scheduleId, workflowType } from './daily-release.contract.ts';

/**
 * Has Temporal start the daily release just after midnight of the account's zone. A run releases all days missed, so
 * one that is late stands for any number of them. Harmless when the schedule is there already.
 */
export async function ensureDailyRelease(client: Client): Promise<void> {
  await client.schedule
    .create({
      scheduleId,
      spec: { calendars: [{ hour: 0, minute: 1 }], timezone: ACCOUNT_TIME_ZONE },
      action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, args: [] },
      policies: { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow: '365 days' },
    })
    .catch((error: unknown) => {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    });
}
