import type { CivilDate } from '../platform/civil-date.ts';
import { later } from '../platform/timestamps.ts';

export type AdvanceRequestStatus = 'PENDING_REVIEW' | 'APPROVED' | 'RELEASED' | 'REFUSED' | 'SETTLED';

/** What the rules decide about an advance request. Times UTC, dates in the account's zone. */
export interface AdvanceRequest {
  readonly status: AdvanceRequestStatus;
  readonly requestedAt: Date;
  readonly reviewedAt: Date | null;
  readonly reviewReason: string | null;
  /** Set between the start of the payout and its end: then it can no longer be refused. */
  readonly releaseStartedAt: Date | null;
  readonly releasedAt: Date | null;
  readonly firstDate: CivilDate;
  readonly lastDate: CivilDate;
}

/** A command that the request's state or dates do not allow. */
export interface Refusal {
  readonly refused: 'ADVANCE_REQUEST_STATE' | 'COVERED_PART_DUE' | 'ADVANCE_NOT_DUE';
  readonly metadata: Record<string, string>;
}

/** When a command happens: the instant, and its date in the account's zone. */
export interface Moment {
  readonly at: Date;
  readonly today: CivilDate;
}

const TRANSITIONS: Readonly<Record<AdvanceRequestStatus, readonly AdvanceRequestStatus[]>> = {
  PENDING_REVIEW: ['APPROVED', 'REFUSED'],
  APPROVED: ['RELEASED', 'REFUSED'],
  RELEASED: ['SETTLED'],
  REFUSED: [],
  SETTLED: [],
};

/** A new request on reserved installments of these dates. */
export function openRequest(dates: readonly CivilDate[], requestedAt: Date): AdvanceRequest {
  const [firstDate, lastDate] = [dates.toSorted()[0]!, dates.toSorted().at(-1)!];
  const unreviewed = { reviewedAt: null, reviewReason: null, releaseStartedAt: null, releasedAt: null };
  return { status: 'PENDING_REVIEW', requestedAt, ...unreviewed, firstDate, lastDate };
}

/** PENDING_REVIEW to APPROVED, while no covered date has come. */
export function approve(
  request: AdvanceRequest,
  moment: Moment,
  reason: string | null,
): AdvanceRequest | Refusal {
  if (!mayBecome(request, 'APPROVED')) return wrongState(request);
  if (request.firstDate <= moment.today) return coveredInstallmentDue(request);
  return { ...request, status: 'APPROVED', ...review(request, moment, reason) };
}

/** PENDING_REVIEW or APPROVED to REFUSED, unless the payout has started. */
export function refuse(request: AdvanceRequest, moment: Moment, reason: string): AdvanceRequest | Refusal {
  if (!mayBecome(request, 'REFUSED') || request.releaseStartedAt !== null) return wrongState(request);
  return { ...request, status: 'REFUSED', ...review(request, moment, reason) };
}

/** Starts the payout of an APPROVED request, while no covered date has come; starting again goes on with it. */
export function startRelease(request: AdvanceRequest, moment: Moment): AdvanceRequest | Refusal {
  if (!mayBecome(request, 'RELEASED')) return wrongState(request);
  if (request.releaseStartedAt !== null) return request;
  if (request.firstDate <= moment.today) return coveredInstallmentDue(request);
  return { ...request, releaseStartedAt: later(request.reviewedAt ?? request.requestedAt, moment.at) };
}

/** The payout is done: RELEASED as of its start. */
export function finishRelease(request: AdvanceRequest): AdvanceRequest | Refusal {
  if (!mayBecome(request, 'RELEASED') || request.releaseStartedAt === null) return wrongState(request);
  return { ...request, status: 'RELEASED', releasedAt: request.releaseStartedAt, releaseStartedAt: null };
}

/** RELEASED to SETTLED, once the last covered date has passed. */
export function settle(request: AdvanceRequest, moment: Moment): AdvanceRequest | Refusal {
  if (!mayBecome(request, 'SETTLED')) return wrongState(request);
  if (moment.today <= request.lastDate) {
    return { refused: 'ADVANCE_NOT_DUE', metadata: { lastDate: request.lastDate } };
  }
  return { ...request, status: 'SETTLED' };
}

export function isRefusal(result: AdvanceRequest | Refusal): result is Refusal {
  return 'refused' in result;
}

function mayBecome(request: AdvanceRequest, status: AdvanceRequestStatus): boolean {
  return TRANSITIONS[request.status].includes(status);
}

/** A review is never before the request, whatever the clocks of two processes say. */
function review(request: AdvanceRequest, moment: Moment, reviewReason: string | null) {
  return { reviewedAt: later(request.requestedAt, moment.at), reviewReason };
}

function wrongState(request: AdvanceRequest): Refusal {
  const releaseStarted = String(request.releaseStartedAt !== null);
  return { refused: 'ADVANCE_REQUEST_STATE', metadata: { status: request.status, releaseStarted } };
}

function coveredInstallmentDue(request: AdvanceRequest): Refusal {
  return { refused: 'COVERED_PART_DUE', metadata: { date: request.firstDate } };
}
