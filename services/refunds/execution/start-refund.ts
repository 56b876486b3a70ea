import type { HandlerContext } from '@connectrpc/connect';
import type {
  StartRefundRequest,
  StartRefundResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundExecution from '../../contracts/refunds/refund-execution.contract.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockRefundCase, storeChange } from '../refund-case-store.ts';
import { startExecution } from './refund-execution.ts';

/** Commits the start of a case's execution, which a workflow then carries out. */
export function startRefund(writes: Writes, request: StartRefundRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof StartRefundResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    await storeChange(tx, row, startExecution(row, at));
    const execution = { ...tx.tenant, refundCaseId: row.id, execution: row.executions };
    await tx.command(refundExecution.startCommand(execution));
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
