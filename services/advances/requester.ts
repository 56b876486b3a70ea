import type { HandlerContext } from '@connectrpc/connect';
import { callerOf } from '../platform/rpc/call-context.ts';

/** When something is asked for, and by whom. */
export interface Requester {
  readonly at: Date;
  readonly by: string;
}

/** Who asks: a caller and its idempotency key. The same one when it asks again. */
export function requesterOf(request: { idempotencyKey: string }, context: HandlerContext): string {
  return `${callerOf(context.values)?.name} ${request.idempotencyKey}`;
}
