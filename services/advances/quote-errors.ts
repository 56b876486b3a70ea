import { failedPrecondition, notFound } from '../platform/errors.ts';

/** There is no such quote of this merchant in this environment. */
export const quoteNotFound = () => notFound('QUOTE_NOT_FOUND', 'there is no such quote');

export const QUOTE_EXPIRED = 'QUOTE_EXPIRED';

/** It was not taken up in time. */
export const quoteExpired = (expiresAt: Date) =>
  failedPrecondition(QUOTE_EXPIRED, 'the quote has expired', { expiresAt: expiresAt.toISOString() });

/** Somebody has taken it up. */
export const alreadyRequested = (advanceRequestId: string) =>
  failedPrecondition('QUOTE_ALREADY_REQUESTED', 'the quote has been requested', { advanceRequestId });
