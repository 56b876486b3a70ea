import type { Client, HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { requestIdOf } from '../platform/rpc/call-context.ts';
import { REQUEST_ID_HEADER } from '../platform/rpc/in-process-transport.ts';
import type { Writes } from '../platform/writes/writes.ts';

/** What a use case across the two areas works with: commits here, calls there, never the one inside the other. */
export interface AdvanceDependencies {
  readonly writes: Writes;
  readonly funds: Client<typeof FundsService>;
}

/**
 * A key for one try: reservations are unique by their request in funds, and a later try may come at another time
 * with the same intent.
 */
export const newFundsKey = () => uuidv7();

/** Calls funds on behalf of the request that causes it. */
export function onBehalfOf(context: HandlerContext) {
  return { headers: { [REQUEST_ID_HEADER]: requestIdOf(context) } };
}
