import {
  afterReport,
  type DeliveryChange,
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
  type SubscriptionHealth,
} from '../subscriptions/subscription.ts';
import type { ReportedRow } from './record-attempts.sql.ts';

export interface PlanSettings {
  readonly schedules: Readonly<Record<ReportedRow['environment'], readonly number[]>>;
  readonly retryLimit: number;
  readonly random: () => number;
}

export interface PlannedReport {
  readonly report: ReportedAttempt;
  readonly row: ReportedRow;
  /** Undefined if the report is already known: nothing is written. */
  readonly change: DeliveryChange | undefined;
}

/** What to write for a set of reports: rows, and subscriptions whose health changes. */
export interface RecordPlan {
  readonly reports: readonly PlannedReport[];
  readonly healths: ReadonlyMap<string, { readonly row: ReportedRow; readonly health: SubscriptionHealth }>;
  /**
   * Subscriptions to lock before writing: their health changes, their open retry workflows are counted, the next delivery
   * of an object is unblocked, or a delivery is held because they are paused.
   */
  readonly locked: ReadonlySet<string>;
}

/**
 * Plans the writes for reports of different deliveries, in their order.
 * @param retrying open retry workflows by subscription.
 */
export function planRecord(
  rows: ReadonlyMap<string, ReportedRow>,
  reports: readonly ReportedAttempt[],
  retrying: ReadonlyMap<string, number>,
  settings: PlanSettings,
): RecordPlan {
  const open = new Map(retrying);
  const healths = new Map<string, { row: ReportedRow; health: SubscriptionHealth }>();
  const locked = new Set<string>();
  const planned = reports.flatMap((report): PlannedReport[] => {
    const row = rows.get(report.deliveryId);
    if (!row) return [];
    const decided = decide(row, report, settings);
    const wants = decided?.status === 'RETRYING' && row.status === 'PENDING';
    const unblocksNext = row.ordered && !row.ended_at && decided?.endedAt;
    const pauses = decided?.status === 'HELD' && row.status !== 'HELD';
    if (wants || unblocksNext || pauses) locked.add(row.subscription_id);
    const used = open.get(row.subscription_id) ?? 0;
    const held = wants && used >= settings.retryLimit;
    if (wants && !held) open.set(row.subscription_id, used + 1);
    const change: DeliveryChange | undefined = held && decided ? { ...decided, status: 'HELD' } : decided;
    if (change && report.generation === row.generation) {
      const before = healths.get(row.subscription_id)?.health ?? healthOf(row);
      healths.set(row.subscription_id, { row, health: healthAfter(before, row, report, change, held) });
    }
    return [{ report, row, change }];
  });
  for (const [id, { row, health }] of healths) {
    if (isSameHealth(health, healthOf(row))) healths.delete(id);
    else locked.add(id);
  }
  return { reports: planned, healths, locked };
}

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

function healthAfter(
  health: SubscriptionHealth,
  row: ReportedRow,
  { number, outcome }: ReportedAttempt,
  change: DeliveryChange,
  held: boolean,
): SubscriptionHealth {
  if (row.ended_at) return health;
  if (held) return afterHolding(health, new Date());
  if (!('result' in outcome)) return health;
  if (isSuccess(outcome.result)) return afterSuccess(health);
  if (change.status !== 'EXHAUSTED') return health;
  return afterExhaustion(health, exhaustionError(row, number, outcome.result), outcome.result.endedAt);
}

function healthOf(row: ReportedRow): SubscriptionHealth {
  return {
    state: row.state,
    error: row.error && row.error_at ? { details: row.error, at: row.error_at } : undefined,
    held: row.holding ? { probeAt: row.probe_at ?? undefined } : undefined,
  };
}
