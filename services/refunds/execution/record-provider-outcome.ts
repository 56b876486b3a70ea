import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import {
  ProviderOutcome,
  type RecordProviderOutcomeRequest,
  type RecordProviderOutcomeResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notifyOfOutcome } from '../../contracts/accounts/notify-contact.contract.ts';
import * as refundReversal from '../../contracts/refunds/refund-reversal.contract.ts';
import { enumName } from '../../platform/enum-name.ts';
import { counterBy } from '../../platform/process/telemetry.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { ENVIRONMENTS } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { raiseLostDisputes } from '../disputes/lost-disputes.ts';
import { unblockCovered } from '../disputes/unblock-covered.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockPaymentOf, lockRefundCase, storeChange } from '../refund-case-store.ts';
import { isPaidUndebited, type ProviderReport, recordOutcome } from './refund-execution.ts';

/** Counted in the process that refuses the report; the alert is in services/refunds/alerts.yaml. */
const contradictions = counterBy('environment', ENVIRONMENTS, {
  name: 'payments_refunds_contradicted_total',
  help: 'Reports that a refund has succeeded although it has failed or has not been debited, by environment. All are refused.',
});

interface ReportDependencies {
  readonly writes: Writes;
  readonly logger: Logger;
}

/**
 * Records the provider's report on a refund. If it fails the refund, its debit is reversed. After the return of a
 * succeeded refund, more may be deducted for lost disputes of its payment; with a sale, funds do that. The success of a
 * refund without a debit is refused, counted and logged.
 */
export function recordProviderOutcome(
  { writes, logger }: ReportDependencies,
  request: RecordProviderOutcomeRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RecordProviderOutcomeResponseSchema>(request, context, async (tx) => {
    const outcome = enumName(ProviderOutcome, request.outcome);
    // A failure frees its amount of the payment, so it is serialized with the payment's disputes and other cases.
    const isFailure = outcome === 'FAILED' || outcome === 'REFUSED';
    const payment = isFailure ? await lockPaymentOf(tx, request.refundCaseId) : null;
    const row = await lockRefundCase(tx, request.refundCaseId);
    const was = row.status;
    if (isPaidUndebited(row, outcome)) {
      contradictions.inc({ environment: tx.tenant.environment });
      const reported = { providerRefundId: request.providerRefundId, requestId: tx.requestId };
      const refund = { ...tx.tenant, refundCaseId: row.id, status: was, ...reported };
      logger.warn(refund, 'the provider reports the success of a refund that is not debited');
    }
    const change = recordOutcome(row, outcome, reportOf(request), at);
    await storeChange(tx, row, change);
    if (change.changes.status === 'FAILED') {
      await tx.command(refundReversal.startCommand({ ...tx.tenant, refundCaseId: row.id }));
      await notifyOfOutcome(tx, { kind: 'REFUND_FAILED', subjectId: row.id }, row.updatedAt);
    }
    if (payment && was === 'SUCCEEDED') await raiseLostDisputes(tx, payment, row.id);
    if (payment) await unblockCovered(tx, payment, at);
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
