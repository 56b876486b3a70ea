import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import {
  ProviderOutcome,
  type RecordProviderOutcomeRequest,
  type RecordProviderOutcomeResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundReversal from '../contracts/refunds/refund-reversal.contract.ts';
import { enumName } from '../platform/enum-name.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { storedRefundCaseMessage } from './refund-case.message.ts';
import { lockRefundCase, storeChange } from './refund-case-store.ts';
import type { ProviderReport } from './refund-execution.ts';
import { recordOutcome } from './refund-execution.ts';

/** Records the provider's report on a refund. If it fails the refund, its debit is reversed. */
export function recordProviderOutcome(
  writes: Writes,
  request: RecordProviderOutcomeRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RecordProviderOutcomeResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    const outcome = enumName(ProviderOutcome, request.outcome);
    const change = recordOutcome(row, outcome, reportOf(request), at);
    await storeChange(tx, row, change);
    if (change.changes.status === 'FAILED') {
      await tx.command(refundReversal.startCommand({ ...tx.tenant, refundCaseId: row.id }));
    }
    return { refundCase: storedRefundCaseMessage(row) };
  });
}

function reportOf({
  providerRefundId,
  submissionStatus,
  submittedAt,
}: RecordProviderOutcomeRequest): ProviderReport {
  return {
    ...(providerRefundId !== undefined && { providerRefundId }),
    ...(submissionStatus !== undefined && { providerSubmissionStatus: submissionStatus }),
    ...(submittedAt !== undefined && { providerSubmittedAt: timestampDate(submittedAt) }),
  };
}
