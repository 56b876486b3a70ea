import { type DomainError, failedPrecondition } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';
import { type AdvanceRequest, wrongState } from './advance-request.ts';

/** FAILED: an error, no answer before the deadline, or an answer that is not valid. */
export type PayoutAnswerName = 'ACCEPTED' | 'REFUSED' | 'FAILED';

/** The payout of a released advance, from its first submission to the provider. */
export interface Payout {
  readonly payoutSubmittedAt: Date | null;
  /** The recorded calls to the provider, up to the accepted one. */
  readonly payoutAttempts: number;
  readonly payoutLastAnswerAt: Date | null;
  readonly payoutLastAnswer: PayoutAnswerName | null;
  /** Why it was not accepted. */
  readonly payoutLastReason: string | null;
  readonly payoutAcceptedAt: Date | null;
  readonly payoutProviderId: string | null;
}

/** How the provider answered one call. `acceptedAt` undefined: now. */
export type PayoutAnswer =
  | {
      readonly answer: 'ACCEPTED';
      readonly providerPayoutId: string;
      readonly acceptedAt: Date | undefined;
    }
  | { readonly answer: 'REFUSED' | 'FAILED'; readonly reason: string };

/** The calls after which a payout that is not accepted counts as stuck. The predicate of its index has it too. */
export const STUCK_AFTER_ATTEMPTS = 5;

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
 * Records an answer. Once the payout is accepted, an answer has no effect, but a second payout is refused: the merchant may
 * have been paid twice. ADVANCE_REQUEST_STATE before the release, PAYOUT_ALREADY_ACCEPTED.
 */
export function recordPayoutAnswer(
  request: AdvanceRequest & Payout,
  answer: PayoutAnswer,
  at: Date,
): Partial<Payout> {
  const { releasedAt, payoutLastAnswerAt, payoutSubmittedAt, payoutAttempts } = request;
  if (releasedAt === null) throw wrongState(request);
  const isAccepted = answer.answer === 'ACCEPTED';
  if (request.payoutAcceptedAt !== null) {
    if (isAccepted && answer.providerPayoutId !== request.payoutProviderId) throw alreadyAccepted(request);
    return {};
  }
  const answeredAt = later(payoutLastAnswerAt ?? releasedAt, at);
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

const alreadyAccepted = ({ payoutProviderId }: Payout): DomainError =>
  failedPrecondition('PAYOUT_ALREADY_ACCEPTED', 'another payout of the advance has been accepted', {
    providerPayoutId: payoutProviderId ?? '',
  });
