import { type DeliveryChange, isSuccess, type ReportedAttempt } from '../deliveries/delivery.ts';
import type { RecordRow, ReportedRow, SuccessRow } from './record-attempts.sql.ts';
import type { PlannedReport, RecordPlan } from './record-plan.ts';

/** A smaller gain is not worth a signal: most attempts that hang end just before they count as lost. */
const MIN_RECHECK_GAIN_MS = 2_000;

/** The row of a success; empty for any other report. */
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

/** The row of a planned report; empty if nothing is to be written. */
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
      known_in_flight_until: row.in_flight_until,
      status: change.status,
      next_attempt_at: change.nextAttemptAt,
      ended_at: change.endedAt,
      in_flight_until: change.inFlightUntil,
      number: report.number,
      generation: String(report.generation),
      attempt_started_at: report.startedAt,
      attempt_deadline_at: 'deadlineAt' in outcome ? outcome.deadlineAt : null,
      attempt_ended_at: result?.endedAt ?? null,
      latency_ms: result?.latencyMs ?? null,
      http_status: result?.httpStatus ?? null,
      failure: result?.failure ?? null,
      response_excerpt: result?.responseExcerpt ?? null,
      rechecks: isDueEarlier(row, change),
    },
  ];
}

/**
 * Whether the attempt after a failed one that was handed over is due well before its retry workflow would check, which
 * waits until the failed attempt counts as lost.
 */
function isDueEarlier(
  { attempt, in_flight_until }: ReportedRow,
  { status, nextAttemptAt, inFlightUntil }: DeliveryChange,
) {
  if (status !== 'RETRYING' || attempt !== 'UNDER_WAY' || inFlightUntil || !nextAttemptAt || !in_flight_until)
    return false;
  return nextAttemptAt.getTime() < in_flight_until.getTime() - MIN_RECHECK_GAIN_MS;
}

/** The rows of subscriptions whose health changes. */
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
