import type { HandlerContext } from '@connectrpc/connect';
import {
  type RecordRefundDebitRequest,
  type RecordRefundDebitResponseSchema,
  RefundDebitOutcome,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { storedRefundCaseMessage } from './refund-case.message.ts';
import { lockRefundCase, storeChange } from './refund-case-store.ts';
import { recordDebit } from './refund-execution.ts';

/** Records the outcome of an execution's debit: PROCESSING or FUNDING_REQUIRED. */
export function recordRefundDebit(
  writes: Writes,
  request: RecordRefundDebitRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RecordRefundDebitResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    const outcome = enumName(RefundDebitOutcome, request.outcome);
    await storeChange(tx, row, recordDebit(row, outcome, at, request.execution));
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
