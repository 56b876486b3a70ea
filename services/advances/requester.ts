import type { HandlerContext } from '@connectrpc/connect';
import { callerOf } from '../platform/rpc/call-context.ts';

/** The time of a request, and who makes it. */
export interface Requester {
  readonly at: Date;
  readonly by: string;
}

/** Identifies a requester by caller and idempotency key: the same when the caller repeats the request. */
export function requesterOf(request: { idempotencyKey: string }, context: HandlerContext): string {
  return `${callerOf(context.values)?.name} ${request.idempotencyKey}`;
}
