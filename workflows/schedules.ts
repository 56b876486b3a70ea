import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { ACCOUNT_TIME_ZONE } from '../services/platform/civil-date.ts';
import * as dailyRelease from './funds/daily-release.contract.ts';
import * as nightlyVerification from './funds/nightly-verification.contract.ts';
import { TASK_QUEUE } from './temporal/task-queue.ts';
import * as webhookRetention from './webhooks/retention.contract.ts';

/** A workflow that Temporal starts at an interval or at times of the day. */
interface Schedule {
  readonly scheduleId: string;
  readonly workflowType: string;
  readonly spec: ScheduleOptions['spec'];
  /** What happens when the previous run is still in progress. */
  readonly overlap: ScheduleOverlapPolicy;
  /** How late a run that was missed in an outage may still start. */
  readonly catchupWindow: NonNullable<ScheduleOptions['policies']>['catchupWindow'];
}

const dailyAt = (hour: number, minute: number) => ({
  calendars: [{ hour, minute }],
  timezone: ACCOUNT_TIME_ZONE,
});

/** All Temporal Schedules. Periodic work inside the services processes is listed in services/periodic-tasks.ts. */
const SCHEDULES: readonly Schedule[] = [
  // One late run makes up for any number of missed days.
  {
    scheduleId: dailyRelease.scheduleId,
    workflowType: dailyRelease.workflowType,
    spec: dailyAt(0, 1),
    overlap: ScheduleOverlapPolicy.BUFFER_ONE,
    catchupWindow: '365 days',
  },
  // Leaves the daily release time to finish. A missed night is not made up for.
  {
    scheduleId: nightlyVerification.scheduleId,
    workflowType: nightlyVerification.workflowType,
    spec: dailyAt(4, 1),
    overlap: ScheduleOverlapPolicy.SKIP,
    catchupWindow: '6 hours',
  },
  // Missed runs are not made up for: after an outage, waiting events are delivered before they may be too old.
  {
    scheduleId: webhookRetention.scheduleId,
    workflowType: webhookRetention.workflowType,
    spec: { intervals: [{ every: '1 hour', offset: '17 minutes' }] },
    overlap: ScheduleOverlapPolicy.SKIP,
    catchupWindow: '1 minute',
  },
];

/** Creates the Schedules that do not exist yet. Existing ones are left as they are. */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const { scheduleId, workflowType, spec, overlap, catchupWindow } of SCHEDULES) {
    await client.schedule
      .create({
        scheduleId,
        spec,
        action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, args: [] },
        policies: { overlap, ...(catchupWindow !== undefined && { catchupWindow }) },
      })
      .catch((error: unknown) => {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      });
  }
}
