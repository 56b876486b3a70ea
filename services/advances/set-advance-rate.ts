import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  SetAdvanceRateRequest,
  SetAdvanceRateResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { timestampOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { RateEntity } from './advance.entity.ts';
import { advanceRateMessage } from './advance.message.ts';

/** Sets the rate of the quotes that are made from then on. */
export function setAdvanceRate(
  writes: Writes,
  defaultRateBps: number,
  request: SetAdvanceRateRequest,
  context: HandlerContext,
) {
  const effectiveFrom = occurredAtOf(request, context);
  const monthlyRateBps = request.monthlyRateBps ?? null;
  return writes.run<typeof SetAdvanceRateResponseSchema>(request, context, async (tx) => {
    tx.create(RateEntity, { id: uuidv7(), monthlyRateBps, effectiveFrom });
    const set = { monthly_rate_bps: monthlyRateBps, effective_from: timestampOf(effectiveFrom) };
    return { rate: advanceRateMessage(set, defaultRateBps) };
  });
}
