import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  ClearBlockerRequest,
  ClearBlockerResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundFunding from '../contracts/refunds/refund-funding.contract.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { awaitsFundingOnly, clearBlockerOfCase } from './execution/refund-execution.ts';
import { manualBlockerOf, storedRefundCaseMessage } from './refund-case.message.ts';
import { executeIfApproved, lockRefundCase, storeChange } from './refund-case-store.ts';
import type { DecisionDependencies } from './review/decide-refund-case.ts';

/**
 * Clears a blocker set by another team. Without any blocker the case is executed; if the balance is the only one left,
 * funding is tried again.
 */
export function clearBlocker(
  { writes, execution }: Omit<DecisionDependencies, 'limits'>,
  request: ClearBlockerRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof ClearBlockerResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    const change = clearBlockerOfCase(row, manualBlockerOf(request.blocker), at);
    await storeChange(tx, row, change);
    if (change.changes.blockedBy) {
      await executeIfApproved(tx, row, execution);
      if (awaitsFundingOnly(row)) {
        await tx.command(refundFunding.startCommand(uuidv7(), { ...tx.tenant, refundCaseId: row.id }));
      }
    }
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
