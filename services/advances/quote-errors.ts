import { failedPrecondition, notFound } from '../platform/errors.ts';

/** There is no such quote of this merchant in this environment. */
export const quoteNotFound = () => notFound('QUOTE_NOT_FOUND', 'there is no such quote');

export const QUOTE_EXPIRED = 'QUOTE_EXPIRED';

/** It was not taken up in time. */
export const quoteExpired = (expiresAt: Date) =>
  failedPrecondition(QUOTE_EXPIRED, 'the quote has expired', { expiresAt: expiresAt.toISOString() });

export const QUOTE_STALE = 'QUOTE_STALE';

/** Funds have refused its installments, now or before. */
export const quoteStale = () =>
  failedPrecondition(QUOTE_STALE, 'a covered installment has changed since the quote or is due');

/** Another call has taken it up, for the request of this id. */
export const alreadyRequested = (advanceRequestId: string) =>
  failedPrecondition('QUOTE_ALREADY_REQUESTED', 'the quote has been requested', { advanceRequestId });
