import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { invalidArgument } from '../errors.ts';
import { requireGrant } from './call-context.ts';

/**
 * The time of a write: now, or the request's `occurred_at` when the caller holds the grant `backdate`. In milliseconds,
 * never in the future. INVALID_ARGUMENT (OCCURRED_AT_IN_FUTURE), PERMISSION_DENIED (GRANT_MISSING).
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

/** Like `occurredAtOf`, for a time that another process has taken from its own clock: one in the future is now. */
export function occurredElsewhereAt(request: { occurredAt?: Timestamp }, context: HandlerContext): Date {
  const now = new Date();
  if (!request.occurredAt || timestampDate(request.occurredAt) <= now) return occurredAtOf(request, context);
  requireGrant(context, 'backdate');
  return now;
}
