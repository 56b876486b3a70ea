import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { invalidArgument } from './errors.ts';
import { requireGrant } from './rpc/call-context.ts';

/** A Date as the wire writes it; undefined for a missing one, so that an unset field stays unset. */
export function timestampOf(date: Date): Timestamp;
export function timestampOf(date: Date | null | undefined): Timestamp | undefined;
export function timestampOf(date: Date | null | undefined): Timestamp | undefined {
  return date ? timestampFromDate(date) : undefined;
}

/**
 * When a write happened: now, or `occurred_at` from a caller with the grant backdate. Milliseconds, not in the
 * future. INVALID_ARGUMENT (OCCURRED_AT_IN_FUTURE), PERMISSION_DENIED (GRANT_MISSING).
 */
export function occurredAtOf(request: { occurredAt?: Timestamp }, context: HandlerContext): Date {
  const now = new Date();
  if (!request.occurredAt) return now;
  requireGrant(context, 'backdate');
  const occurredAt = timestampDate(request.occurredAt);
  if (occurredAt > now) {
    throw invalidArgument('OCCURRED_AT_IN_FUTURE', 'occurred_at: must not be in the future', {
      field: 'occurred_at',
    });
  }
  return occurredAt;
}

/** The later of two times: a change never moves a row's time backwards. */
export const later = (before: Date, now: Date): Date => (now > before ? now : before);
