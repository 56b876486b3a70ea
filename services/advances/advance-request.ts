import { v5 as uuidv5 } from 'uuid';
import { type CivilDate, civilDateAt } from '../platform/civil-date.ts';
import { type DomainError, failedPrecondition } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';

export type AdvanceRequestStatus = 'PENDING_REVIEW' | 'APPROVED' | 'RELEASED' | 'REFUSED' | 'SETTLED';

/** The state of an advance request that the rules decide on. Times in UTC, dates in the account's time zone. */
export interface AdvanceRequest {
  readonly status: AdvanceRequestStatus;
  readonly requestedAt: Date;
  readonly reviewedAt: Date | null;
  readonly reviewReason: string | null;
  /** Set between the start and the end of the payout, when the request can no longer be refused. */
  readonly releaseStartedAt: Date | null;
  readonly releasedAt: Date | null;
  readonly firstDate: CivilDate;
  readonly lastDate: CivilDate;
}

/** The changes of a transition that the rules allow. */
export type Change = Partial<AdvanceRequest>;

/** The time of a command: the instant, and its date in the account's time zone. */
export interface Moment {
  readonly at: Date;
  readonly today: CivilDate;
}

export const momentAt = (at: Date): Moment => ({ at, today: civilDateAt(at) });

const TRANSITIONS: Readonly<Record<AdvanceRequestStatus, readonly AdvanceRequestStatus[]>> = {
  PENDING_REVIEW: ['APPROVED', 'REFUSED'],
  APPROVED: ['RELEASED', 'REFUSED'],
  RELEASED: ['SETTLED'],
  REFUSED: [],
  SETTLED: [],
};

const REQUEST_ID_NAMESPACE = '3f0c6f3e-8f4b-4d4e-9d55-3a1f3c0a7b1e';

/** A request's id follows from its quote's id: a quote has at most one request, and every step can be repeated. */
export const advanceRequestIdOf = (quoteId: string): string => uuidv5(quoteId, REQUEST_ID_NAMESPACE);

/** A new request for reserved installments of these dates. */
export function openRequest(dates: readonly CivilDate[], requestedAt: Date): AdvanceRequest {
  const ascending = dates.toSorted();
  return {
    status: 'PENDING_REVIEW',
    requestedAt,
    reviewedAt: null,
    reviewReason: null,
    releaseStartedAt: null,
    releasedAt: null,
    firstDate: ascending[0]!,
    lastDate: ascending.at(-1)!,
  };
}

/** PENDING_REVIEW to APPROVED, before the first covered date. ADVANCE_REQUEST_STATE, COVERED_PART_DUE. */
export function approve(request: AdvanceRequest, moment: Moment, reason: string | null): Change {
  requireTransition(request, 'APPROVED');
  requireNotDue(request, moment);
  return { status: 'APPROVED', ...review(request, moment, reason) };
}

/** PENDING_REVIEW or APPROVED to REFUSED, unless the payout has started. ADVANCE_REQUEST_STATE. */
export function refuse(request: AdvanceRequest, moment: Moment, reason: string): Change {
  requireTransition(request, 'REFUSED');
  if (request.releaseStartedAt !== null) throw wrongState(request);
  return { status: 'REFUSED', ...review(request, moment, reason) };
}

/**
 * Starts the payout of an APPROVED request, before the first covered date. A payout that has started continues on any
 * date, because the money may have been sent. ADVANCE_REQUEST_STATE, COVERED_PART_DUE.
 */
export function startRelease(request: AdvanceRequest, moment: Moment): { releaseStartedAt: Date } {
  requireTransition(request, 'RELEASED');
  if (request.releaseStartedAt !== null) return { releaseStartedAt: request.releaseStartedAt };
  requireNotDue(request, moment);
  return { releaseStartedAt: later(request.reviewedAt ?? request.requestedAt, moment.at) };
}

/** APPROVED to RELEASED, as of the start of the payout. ADVANCE_REQUEST_STATE. */
export function finishRelease(request: AdvanceRequest): Change {
  requireTransition(request, 'RELEASED');
  if (request.releaseStartedAt === null) throw wrongState(request);
  return { status: 'RELEASED', releasedAt: request.releaseStartedAt, releaseStartedAt: null };
}

/** RELEASED to SETTLED, after the last covered date. ADVANCE_REQUEST_STATE, ADVANCE_NOT_DUE. */
export function settle(request: AdvanceRequest, { today }: Moment): Change {
  requireTransition(request, 'SETTLED');
  const { lastDate } = request;
  if (today <= lastDate) {
    throw failedPrecondition('ADVANCE_NOT_DUE', 'the last covered date has not passed', { lastDate });
  }
  return { status: 'SETTLED' };
}

function requireTransition(request: AdvanceRequest, status: AdvanceRequestStatus): void {
  if (!TRANSITIONS[request.status].includes(status)) throw wrongState(request);
}

function requireNotDue({ firstDate }: AdvanceRequest, { today }: Moment): void {
  if (firstDate > today) return;
  throw failedPrecondition('COVERED_PART_DUE', 'a covered installment is due', {
    date: firstDate,
  });
}

/** Records a review no earlier than its request, even if the clocks of two processes differ. */
function review(request: AdvanceRequest, moment: Moment, reviewReason: string | null) {
  return { reviewedAt: later(request.requestedAt, moment.at), reviewReason };
}

/** ADVANCE_REQUEST_STATE: the status does not allow the change. */
export function wrongState({ status, releaseStartedAt }: AdvanceRequest): DomainError {
  const releaseStarted = releaseStartedAt !== null;
  const state = releaseStarted ? `${status}, and its release has started` : status;
  return failedPrecondition('ADVANCE_REQUEST_STATE', `the request is ${state}`, {
    status,
    releaseStarted: String(releaseStarted),
  });
}
