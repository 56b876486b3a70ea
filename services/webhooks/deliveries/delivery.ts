import { LOST_AFTER_MS, MAX_RETRY_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { EgressFailureKind } from '../../platform/egress/egress-error.ts';

export type DeliveryStatusName =
  | 'PENDING'
  | 'RETRYING'
  | 'HELD'
  | 'BLOCKED'
  | 'SUCCEEDED'
  | 'EXHAUSTED'
  | 'CANCELED';

/** Names of AttemptFailure: why no connection was made, or why the exchange failed. */
export type AttemptFailureName = EgressFailureKind | 'TIMEOUT' | 'BODY_TIMEOUT' | 'PROTOCOL' | 'WORKER_LOST';

/** The state of a delivery when one of its attempts is reported. */
export interface DeliveryState {
  readonly status: DeliveryStatusName;
  /** The number of recorded attempts, including one in flight. */
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date | null;
  /** Until when an attempt counts as in flight. */
  readonly inFlightUntil: Date | null;
  /** Whether the reported attempt is recorded, and whether it has ended. */
  readonly attempt: 'UNKNOWN' | 'UNDER_WAY' | 'ENDED';
}

/** How an attempt ended: with a response or with a failure. */
export interface AttemptResult {
  readonly endedAt: Date;
  readonly latencyMs?: number | undefined;
  readonly httpStatus?: number | undefined;
  readonly failure?: AttemptFailureName | undefined;
  readonly responseExcerpt?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Where a 3xx redirects to, or the names in a certificate for another name. At most 300 characters. */
  readonly detail?: string | undefined;
  /** The `webhook-signature` header as sent. */
  readonly signature?: string | undefined;
  /** Milliseconds of DNS, TCP, TLS and the wait for the response; null for a step that did not happen. */
  readonly timingMs?: readonly (number | null)[] | undefined;
  /** One line per header, without secrets, at most 1,024 characters. */
  readonly responseHeaders?: string | undefined;
}

/** The lane of an attempt, and the epoch in which its owner made it. */
export interface LaneEpoch {
  readonly lane: number;
  readonly epoch: bigint;
}

/** The report of an attempt: its result, or the deadline of an attempt that is still in flight. */
export interface ReportedAttempt {
  readonly deliveryId: string;
  readonly number: number;
  /** The subscription's generation when the attempt began. */
  readonly generation: bigint;
  /** Absent for an attempt that is recorded as in flight, whose end anyone may report. */
  readonly owner: LaneEpoch | undefined;
  /** The workflow that shows the delivery if it succeeds at once. */
  readonly workflowId: string | undefined;
  readonly startedAt: Date;
  readonly outcome: { readonly result: AttemptResult } | { readonly deadlineAt: Date };
}

/** The new state of a delivery after a report. */
export interface DeliveryChange {
  readonly status: DeliveryStatusName;
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date | null;
  /** Until when the attempt counts as in flight. */
  readonly inFlightUntil: Date | null;
}

const JITTER = 0.2;

export const isSuccess = ({ httpStatus = 0 }: AttemptResult) => httpStatus >= 200 && httpStatus < 300;

/** Whether a report changes nothing because its attempt is already recorded or was never handed out. */
export function isKnown({ attempt, attemptCount }: DeliveryState, report: ReportedAttempt): boolean {
  if (attempt === 'UNKNOWN') return report.number !== attemptCount + 1;
  return attempt === 'ENDED' || !('result' in report.outcome);
}

/**
 * The delivery after a new report. A PENDING delivery becomes RETRYING, if the caller's limit allows another workflow; a
 * HELD one stays HELD, because nothing would start its workflow; an ended one does not change. A failed attempt does not
 * change a delivery whose next attempt has already started.
 * @param schedule waits before each attempt, in milliseconds.
 * @param random 0 to 1, for the jitter.
 */
export function afterReport(
  delivery: DeliveryState,
  report: ReportedAttempt,
  schedule: readonly number[],
  random: number,
): DeliveryChange {
  const { status, nextAttemptAt, endedAt } = delivery;
  const { outcome } = report;
  if (endedAt) return { status, nextAttemptAt, endedAt, inFlightUntil: null };
  const open = status === 'HELD' ? 'HELD' : 'RETRYING';
  if (!('result' in outcome)) {
    const lostAt = new Date(outcome.deadlineAt.getTime() + LOST_AFTER_MS);
    return { status: open, nextAttemptAt: lostAt, endedAt: null, inFlightUntil: lostAt };
  }
  const { result } = outcome;
  const ended = { nextAttemptAt: null, endedAt: result.endedAt, inFlightUntil: null };
  if (isSuccess(result)) return { ...ended, status: 'SUCCEEDED' };
  if (report.number < delivery.attemptCount) {
    return { status, nextAttemptAt, endedAt, inFlightUntil: delivery.inFlightUntil };
  }
  const next = nextAttempt(report.number, result, schedule, random);
  if (!next) return { ...ended, status: 'EXHAUSTED' };
  return { status: open, nextAttemptAt: next, endedAt: null, inFlightUntil: null };
}

/**
 * When the remaining attempts of an open delivery are expected if all of them fail at once: each up to 20 % sooner or
 * later, and later for an endpoint that is slow or sends Retry-After. It is given up after the last.
 */
export function expectedAttempts(
  attemptCount: number,
  nextAttemptAt: Date,
  schedule: readonly number[],
): Date[] {
  const expected = [nextAttemptAt];
  for (const wait of schedule.slice(attemptCount + 1)) {
    expected.push(new Date(expected.at(-1)!.getTime() + wait));
  }
  return expected;
}

/** When the attempt after a failed one is due: by the schedule or by Retry-After, whichever is later. */
export function nextAttempt(
  number: number,
  { endedAt, retryAfterMs = 0 }: AttemptResult,
  schedule: readonly number[],
  random: number,
): Date | undefined {
  const wait = schedule[number];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random);
  const asked = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  return new Date(endedAt.getTime() + Math.round(Math.max(jittered, asked)));
}
