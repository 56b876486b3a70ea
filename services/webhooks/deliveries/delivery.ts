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

/** The report of an attempt that has ended, or takes long. */
export interface ReportedAttempt {
  readonly deliveryId: string;
  readonly number: number;
  /** The subscription's generation when the attempt began. */
  readonly generation: bigint;
  /** Absent if its process has died. Anyone may report the end of an attempt that is recorded as in flight. */
  readonly owner: LaneEpoch | undefined;
  /** The workflow that shows the delivery if it succeeds at once. */
  readonly workflowId: string | undefined;
  readonly startedAt: Date;
  /** Undefined while it is in flight. */
  readonly result: AttemptResult | undefined;
}

export const isSuccess = ({ httpStatus = 0 }: AttemptResult) => httpStatus >= 200 && httpStatus < 300;

/**
 * When the remaining attempts of an open delivery are expected if all of them fail at once: each up to 20 % sooner or
 * later, and later for an endpoint that is slow or sends Retry-After. After the last, the delivery is given up.
 * @param attemptCount without attempts that our processes lost.
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
