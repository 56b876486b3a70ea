import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  SetAdvanceRateRequest,
  SetAdvanceRateResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { readRowOf } from '../platform/reads/read-table.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { RateEntity } from './advance.entity.ts';
import { advanceRateMessage } from './advance.message.ts';

/** Sets the rate of later quotes. */
export function setAdvanceRate(
  writes: Writes,
  defaultRateBps: number,
  request: SetAdvanceRateRequest,
  context: HandlerContext,
) {
  const effectiveFrom = occurredAtOf(request, context);
  const monthlyRateBps = request.monthlyRateBps ?? null;
  return writes.run<typeof SetAdvanceRateResponseSchema>(request, context, async (tx) => {
    const rate = tx.create(RateEntity, { id: uuidv7(), monthlyRateBps, effectiveFrom });
    return { rate: advanceRateMessage(readRowOf(rate), defaultRateBps) };
  });
}
