import { type Client, ScheduleAlreadyRunning, type ScheduleOptions } from '@temporalio/client';
import { TASK_QUEUE } from './task-queue.ts';

/** What a Temporal Schedule starts. */
export interface ScheduledWorkflow {
  readonly scheduleId: string;
  readonly workflowType: string;
}

/** Has Temporal start a workflow by a Schedule; one that is there already stays as it is. */
export async function ensureSchedule(
  client: Client,
  { scheduleId, workflowType }: ScheduledWorkflow,
  spec: ScheduleOptions['spec'],
  policies: NonNullable<ScheduleOptions['policies']>,
): Promise<void> {
  await client.schedule
    .create({
      scheduleId,
      spec,
      action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, args: [] },
      policies,
    })
    .catch((error: unknown) => {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    });
}
