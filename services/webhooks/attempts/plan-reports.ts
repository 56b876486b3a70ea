import type { EnvironmentName } from '../../platform/tenant.ts';
import {
  afterReport,
  type DeliveryChange,
  type DeliveryStatusName,
  isKnown,
  isSuccess,
  type ReportedAttempt,
} from '../deliveries/delivery.ts';
import {
  afterExhaustion,
  afterHolding,
  afterSuccess,
  exhaustionError,
  isSameHealth,
  type SubscriptionError,
  type SubscriptionHealth,
  type SubscriptionState,
} from '../subscriptions/subscription.ts';

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
  readonly attempt_count: number;
  readonly next_attempt_at: Date | null;
  readonly ended_at: Date | null;
  readonly in_flight_until: Date | null;
  readonly attempt: 'UNKNOWN' | 'UNDER_WAY' | 'ENDED';
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

export interface PlanSettings {
  readonly schedules: Readonly<Record<ReportedRow['environment'], readonly number[]>>;
  readonly retryLimit: number;
  readonly random: () => number;
  /** The time by the clock that the times of reports go by. */
  readonly now: () => Date;
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
  settings: PlanSettings,
): PlannedReport[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const retrying = new Map<string, number>();
  const now = settings.now();
  return reports.flatMap((sent): PlannedReport[] => {
    const row = byId.get(sent.deliveryId);
    if (!row || isRefused(row, sent)) return [];
    const report = byClock(sent, now, row.now);
    const change = decide(row, report, settings);
    if (change?.status !== 'RETRYING' || row.status !== 'PENDING')
      return [{ report, row, change, overLimit: false }];
    const used = retrying.get(row.subscription_id) ?? row.retrying;
    if (used >= settings.retryLimit) {
      return [{ report, row, change: { ...change, status: 'HELD' }, overLimit: true }];
    }
    retrying.set(row.subscription_id, used + 1);
    return [{ report, row, change, overLimit: false }];
  });
}

/** Clocks that differ by less are right. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * A report with its times by the database's clock, so that a process whose clock is wrong, or was when it made the attempt,
 * delays no retry. The attempt is never later than now.
 */
function byClock(report: ReportedAttempt, now: Date, databaseNow: Date): ReportedAttempt {
  const { outcome, startedAt } = report;
  const result = 'result' in outcome ? outcome.result : undefined;
  // The database's clock has set the times of an attempt that was lost.
  const aheadMs = result?.failure === 'WORKER_LOST' ? 0 : now.getTime() - databaseNow.getTime();
  const latestMs = (result?.endedAt ?? startedAt).getTime();
  const earlierMs = Math.max(aheadMs, latestMs - databaseNow.getTime());
  if (Math.abs(earlierMs) < CLOCK_TOLERANCE_MS) return report;
  const shifted = (date: Date) => new Date(date.getTime() - earlierMs);
  return {
    ...report,
    startedAt: shifted(startedAt),
    outcome:
      'result' in outcome
        ? { result: { ...outcome.result, endedAt: shifted(outcome.result.endedAt) } }
        : { deadlineAt: shifted(outcome.deadlineAt) },
  };
}

/** Only the owner of its lane may report a new attempt; anyone may report the end of one in flight. */
const isRefused = ({ attempt, epoch }: ReportedRow, { owner }: ReportedAttempt) =>
  attempt === 'UNKNOWN' && owner?.epoch !== epoch;

function decide(row: ReportedRow, report: ReportedAttempt, { schedules, random }: PlanSettings) {
  const delivery = {
    status: row.status,
    attemptCount: row.attempt_count,
    nextAttemptAt: row.next_attempt_at,
    endedAt: row.ended_at,
    inFlightUntil: row.in_flight_until,
    attempt: row.attempt,
  };
  if (isKnown(delivery, report)) return undefined;
  const change = afterReport(delivery, report, schedules[row.environment], random());
  return change.status === 'RETRYING' && row.paused_at ? { ...change, status: 'HELD' as const } : change;
}

/** A subscription whose health changes, with the last delivery that changes it. */
export interface ChangedHealth {
  readonly row: ReportedRow;
  readonly health: SubscriptionHealth;
}

/**
 * The subscriptions whose health the reports change. Outcomes of an earlier generation change nothing, except that a
 * held delivery of any generation needs a subscription that probes.
 */
export function changedHealths(planned: readonly PlannedReport[]): ChangedHealth[] {
  const healths = new Map<string, ChangedHealth>();
  for (const report of planned) {
    const { row } = report;
    if (!report.change || (report.report.generation !== row.generation && !report.overLimit)) continue;
    const before = healths.get(row.subscription_id)?.health ?? healthOf(row);
    healths.set(row.subscription_id, { row, health: healthAfter(before, report) });
  }
  return [...healths.values()].filter(({ row, health }) => !isSameHealth(health, healthOf(row)));
}

function healthAfter(
  health: SubscriptionHealth,
  { row, change, overLimit, report: { number, outcome } }: PlannedReport,
): SubscriptionHealth {
  if (row.ended_at) return health;
  if (overLimit) return afterHolding(health, row.now);
  if (!('result' in outcome)) return health;
  if (isSuccess(outcome.result)) return afterSuccess(health);
  if (change?.status !== 'EXHAUSTED') return health;
  return afterExhaustion(health, exhaustionError(row, number, outcome.result), outcome.result.endedAt);
}

function healthOf(row: ReportedRow): SubscriptionHealth {
  return {
    state: row.state,
    error: row.error && row.error_at ? { details: row.error, at: row.error_at } : undefined,
    held: row.holding ? { probeAt: row.probe_at ?? undefined } : undefined,
  };
}
