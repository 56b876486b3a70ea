import { type DomainError, failedPrecondition } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';
import { type AdvanceRequest, wrongState } from './advance-request.ts';

/**
 * FAILED: an error, no answer before the deadline, or an invalid answer. RETURNED: the bank returned the accepted
 * payout.
 */
export type PayoutAnswerName = 'ACCEPTED' | 'REFUSED' | 'FAILED' | 'RETURNED';

/** The payout of a released advance, from its first submission to the provider. */
export interface Payout {
  readonly payoutSubmittedAt: Date | null;
  /** The recorded calls to the provider, up to the accepted one. */
  readonly payoutAttempts: number;
  readonly payoutLastAnswerAt: Date | null;
  readonly payoutLastAnswer: PayoutAnswerName | null;
  /** Why it was not accepted, or was returned. */
  readonly payoutLastReason: string | null;
  readonly payoutAcceptedAt: Date | null;
  /** Of the accepted payout, or of the returned one. */
  readonly payoutProviderId: string | null;
}

/** How the provider answered one call. `acceptedAt` undefined: now. */
export type PayoutAnswer =
  | {
      readonly answer: 'ACCEPTED';
      readonly providerPayoutId: string;
      readonly acceptedAt: Date | undefined;
    }
  | { readonly answer: 'REFUSED' | 'FAILED'; readonly reason: string }
  | { readonly answer: 'RETURNED'; readonly providerPayoutId: string; readonly reason: string };

/** After this many calls, a payout that is not accepted counts as stuck. */
export const STUCK_AFTER_ATTEMPTS = 5;

/** Leaves time for a provider outage to end, so that the merchant is not mailed about it. */
const UNPAID_NOTICE_MS = 2 * 3_600_000;

/** Selects payouts that are stuck or returned, as the predicate of their index does. */
export const TO_RESOLVE = `payout_accepted_at is null and (payout_attempts >= ${STUCK_AFTER_ATTEMPTS} or payout_last_answer = 'RETURNED')`;

/** The payout of a new request. */
export const NO_PAYOUT: Payout = {
  payoutSubmittedAt: null,
  payoutAttempts: 0,
  payoutLastAnswerAt: null,
  payoutLastAnswer: null,
  payoutLastReason: null,
  payoutAcceptedAt: null,
  payoutProviderId: null,
};

/**
 * How an answer changes a payout. An accepted payout changes only if the bank returns it; a second payout is refused, because the
 * merchant may have been paid twice. After a return, only the acceptance of another payout changes it.
 * ADVANCE_REQUEST_STATE before the release, PAYOUT_ALREADY_ACCEPTED, PAYOUT_RETURNED, PAYOUT_NOT_ACCEPTED.
 */
export function afterPayoutAnswer(
  request: AdvanceRequest & Payout,
  answer: PayoutAnswer,
  at: Date,
): Partial<Payout> {
  const { releasedAt, payoutLastAnswerAt, payoutSubmittedAt, payoutAttempts } = request;
  if (releasedAt === null) throw wrongState(request);
  const answeredAt = later(payoutLastAnswerAt ?? releasedAt, at);
  if (answer.answer === 'RETURNED') return returnPayout(request, answer, answeredAt);
  const isAccepted = answer.answer === 'ACCEPTED';
  const isKnown = isAccepted && answer.providerPayoutId === request.payoutProviderId;
  if (secondPayoutOf(request, answer) !== undefined) throw alreadyAccepted(request);
  if (request.payoutAcceptedAt !== null) return {};
  if (isKnown) throw failedPrecondition('PAYOUT_RETURNED', 'the bank has returned this payout');
  if (request.payoutLastAnswer === 'RETURNED' && !isAccepted) return {};
  return {
    payoutSubmittedAt: payoutSubmittedAt ?? answeredAt,
    payoutAttempts: payoutAttempts + 1,
    payoutLastAnswerAt: answeredAt,
    payoutLastAnswer: answer.answer,
    payoutLastReason: isAccepted ? null : answer.reason,
    ...(isAccepted && {
      payoutAcceptedAt: answer.acceptedAt ?? answeredAt,
      payoutProviderId: answer.providerPayoutId,
    }),
  };
}

/** The id of an accepted payout if another one has been accepted before, so that the merchant may have been paid twice. */
export function secondPayoutOf(
  { payoutAcceptedAt, payoutProviderId }: Payout,
  answer: PayoutAnswer,
): string | undefined {
  if (payoutAcceptedAt === null || answer.answer !== 'ACCEPTED') return undefined;
  return answer.providerPayoutId === payoutProviderId ? undefined : answer.providerPayoutId;
}

/** Records that the bank returned the accepted payout. Has no effect if that is already recorded. */
function returnPayout(
  request: Payout,
  { providerPayoutId, reason }: Extract<PayoutAnswer, { answer: 'RETURNED' }>,
  payoutLastAnswerAt: Date,
): Partial<Payout> {
  const { payoutProviderId } = request;
  if (providerPayoutId !== payoutProviderId) {
    throw failedPrecondition('PAYOUT_NOT_ACCEPTED', 'this payout of the advance has not been accepted', {
      providerPayoutId: payoutProviderId ?? '',
    });
  }
  if (request.payoutLastAnswer === 'RETURNED') return {};
  return {
    payoutLastAnswerAt,
    payoutLastAnswer: 'RETURNED',
    payoutLastReason: reason,
    payoutAcceptedAt: null,
  };
}

/**
 * When to notify the merchant that the advance is unpaid, if it still is by then; null if the answer leaves that time
 * as it is. Due at once after a return, since only another payout resolves it.
 */
export function unpaidNoticeAt({
  payoutAttempts,
  payoutLastAnswer,
  payoutLastAnswerAt,
}: Partial<Payout>): Date | null {
  if (!payoutLastAnswerAt || payoutLastAnswer === 'ACCEPTED') return null;
  if (payoutLastAnswer === 'RETURNED') return payoutLastAnswerAt;
  const isStuckNow = payoutAttempts === STUCK_AFTER_ATTEMPTS;
  return isStuckNow ? new Date(payoutLastAnswerAt.getTime() + UNPAID_NOTICE_MS) : null;
}

/**
 * Whether an answer discards a notice about the payout's delay that may still wait. A return does so again: the cancellation by
 * the acceptance may have overtaken the start of the notice, which would then put off the one about the return.
 */
export const endsUnpaidNotice = (
  { payoutAttempts }: Payout,
  { payoutLastAnswer }: Partial<Payout>,
): boolean =>
  (payoutLastAnswer === 'ACCEPTED' || payoutLastAnswer === 'RETURNED') &&
  payoutAttempts > STUCK_AFTER_ATTEMPTS;

const alreadyAccepted = ({ payoutProviderId }: Payout): DomainError =>
  failedPrecondition('PAYOUT_ALREADY_ACCEPTED', 'another payout of the advance has been accepted', {
    providerPayoutId: payoutProviderId ?? '',
  });
