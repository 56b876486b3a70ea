import type { HandlerContext } from '@connectrpc/connect';
import {
  type RecordRefundDebitRequest,
  type RecordRefundDebitResponseSchema,
  RefundDebitOutcome,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notifyOfOutcome } from '../../contracts/accounts/notify-contact.contract.ts';
import { enumName } from '../../platform/enum-name.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockRefundCase, storeChange } from '../refund-case-store.ts';
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
    const change = recordDebit(row, outcome, at, request.execution);
    await storeChange(tx, row, change);
    // Only the first execution sends the mail, so that a case sends one, however often it waits again.
    if (change.changes.status === 'FUNDING_REQUIRED' && row.executions === 1) {
      await notifyOfOutcome(tx, { kind: 'REFUND_UNFUNDED', subjectId: row.id }, row.updatedAt);
    }
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
