import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { ACCOUNT_TIME_ZONE } from '../services/platform/civil-date.ts';
import * as areaCheck from './area-check/area-check.contract.ts';
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

const nightlyAt = (minute: number) => ({
  calendars: [{ hour: 4, minute }],
  timezone: ACCOUNT_TIME_ZONE,
});

/** All Temporal Schedules. Periodic work inside the services processes is listed in services/periodic-tasks.ts. */
const SCHEDULES: readonly Schedule[] = [
  // Releases everything due by its day, so that one run makes up for any number of missed ones. Runs hourly, so that
  // a clock which is behind at midnight delays releases by an hour, not a day.
  {
    scheduleId: dailyRelease.scheduleId,
    workflowType: dailyRelease.workflowType,
    spec: { intervals: [{ every: '1 hour', offset: '1 minute' }] },
    overlap: ScheduleOverlapPolicy.BUFFER_ONE,
    catchupWindow: '1 hour',
  },
  // A night missed by more than six hours is skipped.
  {
    scheduleId: nightlyVerification.scheduleId,
    workflowType: nightlyVerification.workflowType,
    spec: nightlyAt(1),
    overlap: ScheduleOverlapPolicy.SKIP,
    catchupWindow: '6 hours',
  },
  // Runs after the verification of funds. A night missed by more than six hours is skipped.
  {
    scheduleId: areaCheck.scheduleId,
    workflowType: areaCheck.workflowType,
    spec: nightlyAt(31),
    overlap: ScheduleOverlapPolicy.SKIP,
    catchupWindow: '6 hours',
  },
  // Missed runs are skipped, so that after an outage waiting events are delivered before any are dropped.
  {
    scheduleId: webhookRetention.scheduleId,
    workflowType: webhookRetention.workflowType,
    spec: { intervals: [{ every: '1 hour', offset: '17 minutes' }] },
    overlap: ScheduleOverlapPolicy.SKIP,
    catchupWindow: '1 minute',
  },
];

/** The definition that a Schedule was last given, in the memo of its runs. */
const DEFINITION = 'definition';

/**
 * Creates the Schedules that do not exist yet, each with an immediate first run, and updates those whose definition has
 * changed. A pause stays.
 * @param beforeCreate runs before the first one is created. If it fails, none is created, and the next call finds them
 *   missing again.
 */
export async function ensureSchedules(client: Client, beforeCreate: () => Promise<unknown>): Promise<void> {
  const missing: Schedule[] = [];
  for (const schedule of SCHEDULES) if (!(await update(client, schedule))) missing.push(schedule);
  if (missing.length > 0) await beforeCreate();
  for (const schedule of missing) await create(client, schedule);
}

async function create(client: Client, schedule: Schedule): Promise<void> {
  const { scheduleId } = schedule;
  const state = { triggerImmediately: true };
  try {
    await client.schedule.create({ scheduleId, ...definitionOf(schedule), state });
  } catch (error) {
    // Another worker was faster.
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

/** @returns false when the Schedule does not exist. */
async function update(client: Client, schedule: Schedule): Promise<boolean> {
  const handle = client.schedule.getHandle(schedule.scheduleId);
  const definition = definitionOf(schedule);
  try {
    const { action } = await handle.describe();
    if (action.memo?.[DEFINITION] !== definition.action.memo[DEFINITION]) {
      await handle.update(({ state }) => ({ ...definition, state }));
    }
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

function definitionOf({ workflowType, spec, overlap, catchupWindow }: Schedule) {
  const policies = { overlap, catchupWindow };
  const memo = { [DEFINITION]: JSON.stringify({ workflowType, spec, policies }) };
  const action = { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, args: [], memo } as const;
  return { spec, policies, action };
}
