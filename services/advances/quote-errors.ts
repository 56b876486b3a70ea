import { failedPrecondition, notFound } from '../platform/errors.ts';

/** The merchant does not have this quote in this environment. */
export const quoteNotFound = () => notFound('QUOTE_NOT_FOUND', 'the quote does not exist');

export const QUOTE_EXPIRED = 'QUOTE_EXPIRED';

/** The quote was not requested in time. */
export const quoteExpired = (expiresAt: Date) =>
  failedPrecondition(QUOTE_EXPIRED, 'the quote has expired', { expiresAt: expiresAt.toISOString() });

export const QUOTE_STALE = 'QUOTE_STALE';

/** Funds refuse the quote's installments, or have refused them before. */
export const quoteStale = () =>
  failedPrecondition(QUOTE_STALE, 'a covered installment has changed since the quote or is due');

/** Another call has requested the quote, as this advance request. */
export const alreadyRequested = (advanceRequestId: string) =>
  failedPrecondition('QUOTE_ALREADY_REQUESTED', 'the quote has been requested', { advanceRequestId });
