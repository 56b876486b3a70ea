import { type DeliveryChange, isSuccess, type ReportedAttempt } from '../deliveries/delivery.ts';
import type { RecordRow, ReportedRow, SuccessRow } from './record-attempts.sql.ts';
import type { PlannedReport, RecordPlan } from './record-plan.ts';

/** Less is not worth a signal: most attempts that hang end just before they count as lost. */
const WORTH_TELLING_MS = 2_000;

/** A report as the statement for successes takes it; none of another. */
export function successRow({
  deliveryId,
  number,
  generation,
  startedAt,
  outcome,
}: ReportedAttempt): SuccessRow[] {
  if (!('result' in outcome) || !isSuccess(outcome.result)) return [];
  const { endedAt, latencyMs, httpStatus, responseExcerpt } = outcome.result;
  return [
    {
      delivery_id: deliveryId,
      number,
      generation: String(generation),
      started_at: startedAt,
      ended_at: endedAt,
      latency_ms: latencyMs ?? null,
      http_status: httpStatus ?? null,
      response_excerpt: responseExcerpt ?? null,
    },
  ];
}

/** A planned report as the statement that records it takes it; none where nothing is written. */
export function recordRow({ report, row, change }: PlannedReport): RecordRow[] {
  if (!change) return [];
  const { outcome } = report;
  const result = 'result' in outcome ? outcome.result : undefined;
  return [
    {
      environment: row.environment,
      delivery_id: row.id,
      known_status: row.status,
      known_count: row.attempt_count,
      known_busy_until: row.busy_until,
      status: change.status,
      next_attempt_at: change.nextAttemptAt,
      ended_at: change.endedAt,
      busy_until: change.busyUntil,
      number: report.number,
      generation: String(report.generation),
      attempt_started_at: report.startedAt,
      attempt_deadline_at: 'deadlineAt' in outcome ? outcome.deadlineAt : null,
      attempt_ended_at: result?.endedAt ?? null,
      latency_ms: result?.latencyMs ?? null,
      http_status: result?.httpStatus ?? null,
      failure: result?.failure ?? null,
      response_excerpt: result?.responseExcerpt ?? null,
      asks_again: isDueEarlier(row, change),
    },
  ];
}

/**
 * Whether a failed attempt that was handed over is followed by the next well before its retry workflow asks: that waits
 * until the attempt counts as lost.
 */
function isDueEarlier(
  { attempt, busy_until }: ReportedRow,
  { status, nextAttemptAt, busyUntil }: DeliveryChange,
) {
  if (status !== 'RETRYING' || attempt !== 'UNDER_WAY' || busyUntil || !nextAttemptAt || !busy_until)
    return false;
  return nextAttemptAt.getTime() < busy_until.getTime() - WORTH_TELLING_MS;
}

/** Health to store, as its statement takes it. */
export function healthRows({ healths }: RecordPlan) {
  return [...healths.values()].map(({ row, health }) => ({
    merchant_id: row.merchant_id,
    environment: row.environment,
    id: row.subscription_id,
    generation: String(row.generation),
    state: health.state,
    error: health.error?.details ?? null,
    error_at: health.error?.at ?? null,
    holding: health.held !== undefined,
    probe_at: health.held?.probeAt ?? null,
    request_id: row.request_id,
  }));
}
