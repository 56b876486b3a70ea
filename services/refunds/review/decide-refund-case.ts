import type { HandlerContext } from '@connectrpc/connect';
import {
  type DecideRefundCaseRequest,
  type DecideRefundCaseResponseSchema,
  MerchantDecisionKind,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as merchantReview from '../../contracts/refunds/merchant-review.contract.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import {
  executeIfApproved,
  lockRefundCase,
  type RefundExecutionMode,
  storeChange,
} from '../refund-case-store.ts';
import { exceededLimits } from '../refund-limits.ts';
import type { RefundLimits } from '../refund-policy.ts';
import { decideAsMerchant } from './refund-review.ts';

export interface DecisionDependencies {
  readonly writes: Writes;
  readonly limits: RefundLimits;
  readonly execution: RefundExecutionMode;
}

/** Records the merchant's decision. It competes with the deadline for the case's lock: the first one wins. */
export function decideRefundCase(
  { writes, limits, execution }: DecisionDependencies,
  request: DecideRefundCaseRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const decision = request.decision === MerchantDecisionKind.APPROVED ? 'APPROVED' : 'CONTESTED';
  return writes.run<typeof DecideRefundCaseResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    const exceeded = decision === 'APPROVED' ? await exceededLimits(tx, limits, row, at) : [];
    const reason = request.reason ?? null;
    await storeChange(tx, row, decideAsMerchant(row, { decision, reason }, exceeded, at));
    await tx.command(merchantReview.cancelCommand(row.id));
    await executeIfApproved(tx, row, execution);
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
