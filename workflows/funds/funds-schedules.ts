import { type Client, ScheduleOverlapPolicy } from '@temporalio/client';
import { ACCOUNT_TIME_ZONE } from '../../services/platform/civil-date.ts';
import { ensureSchedule } from '../temporal/schedules.ts';
import * as dailyRelease from './daily-release.contract.ts';
import * as nightlyVerification from './nightly-verification.contract.ts';

/**
 * Has Temporal start what funds need every day, at an hour of the account's zone: the daily release just after
 * midnight, where one run that is late stands for any number of days missed, and the verification of all accounts
 * once releases have had their time, where a night missed is not made up for. Harmless when they are there already.
 */
export async function ensureFundsSchedules(client: Client): Promise<void> {
  await ensureSchedule(client, dailyRelease, dailyAt(0, 1), {
    overlap: ScheduleOverlapPolicy.BUFFER_ONE,
    catchupWindow: '365 days',
  });
  await ensureSchedule(client, nightlyVerification, dailyAt(4, 1), {
    overlap: ScheduleOverlapPolicy.SKIP,
    catchupWindow: '6 hours',
  });
}

const dailyAt = (hour: number, minute: number) => ({
  calendars: [{ hour, minute }],
  timezone: ACCOUNT_TIME_ZONE,
});
