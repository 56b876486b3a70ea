import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { callerNameOf } from '../platform/rpc/call-context.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';

/** The time of a request, and who makes it. */
export interface Requester {
  readonly at: Date;
  /** The caller and the idempotency key: the same when the caller repeats the request. */
  readonly by: string;
}

/** The requester of a call. Throws like `occurredAtOf`. */
export function requesterOf(
  request: { readonly idempotencyKey: string; readonly occurredAt?: Timestamp },
  context: HandlerContext,
): Requester {
  return { at: occurredAtOf(request, context), by: `${callerNameOf(context)} ${request.idempotencyKey}` };
}
