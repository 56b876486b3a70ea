import type { Client, HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { requestIdOf } from '../platform/rpc/call-context.ts';
import { REQUEST_ID_HEADER } from '../platform/rpc/in-process-transport.ts';
import type { Writes } from '../platform/writes/writes.ts';

/** The dependencies of a use case across both areas. It never calls funds inside a transaction. */
export interface AdvanceDependencies {
  readonly writes: Writes;
  readonly funds: Client<typeof FundsService>;
}

/**
 * A new idempotency key for each attempt: a later attempt has another time, and the advance request already makes a
 * reservation unique in funds.
 */
export const newFundsKey = () => uuidv7();

/** Passes the id of the causing request on to funds. */
export function onBehalfOf(context: HandlerContext) {
  return { headers: { [REQUEST_ID_HEADER]: requestIdOf(context) } };
}
