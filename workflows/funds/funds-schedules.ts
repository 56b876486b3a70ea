import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { ACCOUNT_TIME_ZONE } from '../../services/platform/civil-date.ts';
import { TASK_QUEUE } from '../task-queue.ts';
import * as dailyRelease from './daily-release.contract.ts';
import * as nightlyVerification from './nightly-verification.contract.ts';

/**
 * Has Temporal start what funds need every day, at an hour of the account's zone: the daily release just after
 * midnight, where one run that is late stands for any number of days missed, and the verification of all accounts
 * once releases have had their time, where a night missed is not made up for. Harmless when they are there already.
 */
export async function ensureFundsSchedules(client: Client): Promise<void> {
  await ensure(
    client,
    dailyRelease,
    { hour: 0, minute: 1 },
    {
      overlap: ScheduleOverlapPolicy.BUFFER_ONE,
      catchupWindow: '365 days',
    },
  );
  await ensure(
    client,
    nightlyVerification,
    { hour: 4, minute: 1 },
    {
      overlap: ScheduleOverlapPolicy.SKIP,
      catchupWindow: '6 hours',
    },
  );
}

async function ensure(
  client: Client,
  { scheduleId, workflowType }: { scheduleId: string; workflowType: string },
  at: { hour: number; minute: number },
  policies: NonNullable<ScheduleOptions['policies']>,
): Promise<void> {
  await client.schedule
    .create({
      scheduleId,
      spec: { calendars: [at], timezone: ACCOUNT_TIME_ZONE },
      action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, args: [] },
      policies,
    })
    .catch((error: unknown) => {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    });
}
