import type { Config } from '../../platform/process/config.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import {
  type AttemptResult,
  type DeliveryStatusName,
  isSuccess,
  type ReportedAttempt,
} from '../deliveries/delivery.ts';
import type { SubscriptionError, SubscriptionState } from '../subscriptions/subscription.ts';
import { ATTEMPT_TIMEOUT_MS, LOST_AFTER_MS } from './attempt-limits.ts';

/** A delivery and its subscription when a report arrives. */
export interface ReportedRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly event_id: string;
  readonly object_id: string;
  readonly request_id: string;
  readonly ordered: boolean;
  readonly status: DeliveryStatusName;
  /** The number of recorded attempts, including one in flight. */
  readonly attempt_count: number;
  readonly next_attempt_at: Date | null;
  readonly ended_at: Date | null;
  /** Until when an attempt counts as in flight. */
  readonly in_flight_until: Date | null;
  /** Whether the reported attempt is recorded, and whether it has ended. */
  readonly attempt: 'UNKNOWN' | 'IN_FLIGHT' | 'ENDED';
  /** The number of earlier attempts that our processes lost. */
  readonly lost: number;
  /** The current epoch of the lane. */
  readonly epoch: bigint;
  /** The time by the database's clock. */
  readonly now: Date;
  readonly state: SubscriptionState;
  readonly generation: bigint;
  readonly error: SubscriptionError | null;
  readonly error_at: Date | null;
  readonly holding: boolean;
  readonly probe_at: Date | null;
  readonly paused_at: Date | null;
  /** The number of the subscription's deliveries with a retry workflow; counted for a PENDING delivery only. */
  readonly retrying: number;
}

export type RecorderConfig = Pick<
  Config,
  'WEBHOOK_SCHEDULE_LIVE' | 'WEBHOOK_SCHEDULE_SANDBOX' | 'WEBHOOK_RETRY_WORKFLOW_LIMIT'
>;

/** The new state of a delivery after a report. */
export interface DeliveryChange {
  readonly status: DeliveryStatusName;
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date | null;
  /** Until when the attempt counts as in flight. */
  readonly inFlightUntil: Date | null;
}

export interface PlannedReport {
  readonly report: ReportedAttempt;
  readonly row: ReportedRow;
  /** Undefined if the report is already known: nothing is written. */
  readonly change: DeliveryChange | undefined;
  /** Whether it would need a retry workflow, but its subscription has reached the limit. */
  readonly overLimit: boolean;
}

/**
 * Plans what to write for reports of different deliveries, in order, with times by the database's clock. Leaves out refused
 * reports.
 */
export function planReports(
  rows: readonly ReportedRow[],
  reports: readonly ReportedAttempt[],
  readAt: Date,
  config: RecorderConfig,
): PlannedReport[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const retrying = new Map<string, number>();
  const schedules = { live: config.WEBHOOK_SCHEDULE_LIVE, test: config.WEBHOOK_SCHEDULE_SANDBOX };
  return reports.flatMap((sent): PlannedReport[] => {
    const row = byId.get(sent.deliveryId);
    if (!row || isRefused(row, sent)) return [];
    const report = inDatabaseTime(sent, readAt, row.now);
    const change = decide(row, report, schedules[row.environment]);
    const planned = { report, row, change, overLimit: false };
    if (change?.status !== 'RETRYING' || row.status !== 'PENDING') return [planned];
    const used = retrying.get(row.subscription_id) ?? row.retrying;
    if (used >= config.WEBHOOK_RETRY_WORKFLOW_LIMIT)
      return [{ ...planned, change: { ...change, status: 'HELD' }, overLimit: true }];
    retrying.set(row.subscription_id, used + 1);
    return [planned];
  });
}

/** Smaller differences between clocks are ignored. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * The least by which this process's clock, which sets the times of reports, is ahead of the database's: 0 unless the time
 * read from the database is outside the time that reading it took, which may be long while the database is slow.
 * @param readAt when the read began.
 */
function aheadMsOf(readAt: Date, databaseNow: Date): number {
  const sinceReadMs = databaseNow.getTime() - readAt.getTime();
  if (sinceReadMs < 0) return -sinceReadMs;
  return Math.min(Date.now() - databaseNow.getTime(), 0);
}

/**
 * A report with its times by the database's clock, so that a process whose clock is wrong, or was when it made the attempt,
 * delays no retry. The attempt is never later than now.
 */
function inDatabaseTime(report: ReportedAttempt, readAt: Date, databaseNow: Date): ReportedAttempt {
  const { result, startedAt } = report;
  const latestMs = (result?.endedAt ?? startedAt).getTime();
  // The database's clock has set the times of an attempt that was lost.
  const aheadMs = result?.failure === 'WORKER_LOST' ? 0 : aheadMsOf(readAt, databaseNow);
  const earlierMs = Math.max(aheadMs, latestMs - databaseNow.getTime());
  if (Math.abs(earlierMs) < CLOCK_TOLERANCE_MS) return report;
  const shifted = (date: Date) => new Date(date.getTime() - earlierMs);
  return {
    ...report,
    startedAt: shifted(startedAt),
    result: result && { ...result, endedAt: shifted(result.endedAt) },
  };
}

/** Only the owner of its lane may report a new attempt; anyone may report the end of one in flight. */
const isRefused = ({ attempt, epoch }: ReportedRow, { owner }: ReportedAttempt) =>
  attempt === 'UNKNOWN' && owner?.epoch !== epoch;

function decide(row: ReportedRow, report: ReportedAttempt, schedule: readonly number[]) {
  if (isKnown(row, report)) return undefined;
  const change = afterReport(row, report, schedule, Math.random());
  return change.status === 'RETRYING' && row.paused_at ? { ...change, status: 'HELD' as const } : change;
}

/** Whether a report changes nothing: its attempt is already recorded, or is neither known nor the next one. */
export function isKnown({ attempt, attempt_count }: ReportedRow, report: ReportedAttempt): boolean {
  if (attempt === 'UNKNOWN') return report.number !== attempt_count + 1;
  return attempt === 'ENDED' || !report.result;
}

/**
 * The delivery after a new report. A PENDING delivery becomes RETRYING, if the caller's limit allows another workflow; a
 * HELD one stays HELD, because nothing would start its workflow; an ended one does not change. A failed attempt does not
 * change a delivery whose next attempt has already started.
 * @param schedule waits before each attempt, in milliseconds.
 * @param random 0 to 1, for the jitter.
 */
export function afterReport(
  row: ReportedRow,
  report: ReportedAttempt,
  schedule: readonly number[],
  random: number,
): DeliveryChange {
  const { status, next_attempt_at: nextAttemptAt, ended_at: endedAt } = row;
  const { number, startedAt, result } = report;
  if (endedAt) return { status, nextAttemptAt, endedAt, inFlightUntil: null };
  const open = status === 'HELD' ? 'HELD' : 'RETRYING';
  if (!result) {
    const lostAt = new Date(startedAt.getTime() + ATTEMPT_TIMEOUT_MS + LOST_AFTER_MS);
    return { status: open, nextAttemptAt: lostAt, endedAt: null, inFlightUntil: lostAt };
  }
  const ended = { nextAttemptAt: null, endedAt: result.endedAt, inFlightUntil: null };
  if (isSuccess(result)) return { ...ended, status: 'SUCCEEDED' };
  if (number < row.attempt_count) {
    return { status, nextAttemptAt, endedAt, inFlightUntil: row.in_flight_until };
  }
  const next = nextAttempt({ number, lost: row.lost, result }, schedule, random);
  if (!next) return { ...ended, status: 'EXHAUSTED' };
  return { status: open, nextAttemptAt: next, endedAt: null, inFlightUntil: null };
}

const JITTER = 0.2;

type FailedAttempt = Pick<ReportedRow, 'lost'> & Pick<ReportedAttempt, 'number'> & { result: AttemptResult };

/**
 * When the attempt after a failed one is due: by the schedule or by Retry-After, whichever is later. Attempts that our
 * processes lost do not count against the schedule: they are made again, the first time after the first wait. Later
 * waits are longer, in case the delivery is what ends our processes.
 */
export function nextAttempt(
  { number, lost, result: { endedAt, failure, retryAfterMs = 0 } }: FailedAttempt,
  schedule: readonly number[],
  random: number,
): Date | undefined {
  const wait =
    failure === 'WORKER_LOST' ? schedule[Math.min(lost + 1, schedule.length - 1)] : schedule[number - lost];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random);
  return new Date(endedAt.getTime() + Math.round(Math.max(jittered, retryAfterMs)));
}
