import { timestampNow } from '@bufbuild/protobuf/wkt';
import {
  ProviderOutcome,
  type RefundCase,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundExecution from '../../services/contracts/refunds/refund-execution.contract.ts';
import { unlessRefused } from '../../services/platform/rpc/connect-errors.ts';
import { callProvider } from '../call-provider.ts';
import { referenceOf } from '../provider-reference.ts';
import { caseFields, type RefundClients, readCase } from './refund-clients.ts';

/**
 * How a submission ended. NO_PROVIDER: none is configured, so outcomes come only through RecordProviderOutcome.
 * NOT_DUE: the refund is not in PROCESSING, or the provider already has it.
 */
export type SubmissionResult = 'ACCEPTED' | 'REFUSED' | 'NOT_DUE' | 'NO_PROVIDER';

/** The activity that submits refunds to the provider. */
export function createSubmissionActivities(clients: RefundClients) {
  return {
    /**
     * Submits a refund whose funds are debited, and records the answer. Throws a ProviderError when the provider does not
     * answer. Idempotent: a refund that the provider has reported on is not submitted again, the provider returns its
     * first answer to a repeated call, and the first recorded answer stays.
     */
    async submitRefund(input: refundExecution.ExecuteRefundInput): Promise<SubmissionResult> {
      const provider = clients.refundProvider;
      if (provider === undefined) return 'NO_PROVIDER';
      const refundCase = await readCase(clients, input);
      if (!isDue(refundCase, input)) return 'NOT_DUE';
      const submission = { provider: 'refund', environment: input.environment } as const;
      const answer = await callProvider(submission, (options) =>
        provider.submitRefund({ ...submissionOf(refundCase), execution: input.execution }, options),
      );
      switch (answer.case) {
        case 'accepted': {
          const { providerRefundId, submissionStatus, submittedAt = timestampNow() } = answer.value;
          const report = { providerRefundId, submissionStatus, submittedAt };
          return record(clients, input, 'ACCEPTED', { ...report, outcome: ProviderOutcome.SUBMITTED });
        }
        case 'refused': {
          const submissionStatus = answer.value.reason;
          return record(clients, input, 'REFUSED', { submissionStatus, outcome: ProviderOutcome.REFUSED });
        }
        default:
          return answer satisfies never;
      }
    },
  };
}

function isDue(
  { status, executions, provider }: RefundCase,
  { execution }: refundExecution.ExecuteRefundInput,
): boolean {
  const { refundId, submissionStatus, submittedAt } = provider ?? {};
  const isReported = [refundId, submissionStatus, submittedAt].some((value) => value !== undefined);
  return status === RefundCaseStatus.PROCESSING && executions === execution && !isReported;
}

function submissionOf(refundCase: RefundCase) {
  const { id, merchantId, environment, paymentIntentId, amountMinor, currency } = refundCase;
  const { saleId, orderId, invoiceId, requestedAt } = refundCase;
  return {
    merchantId,
    environment,
    refundCaseId: id,
    paymentIntentId,
    amountMinor,
    currency,
    reference: referenceOf(id),
    saleId,
    orderId,
    invoiceId,
    requestedAt,
  };
}

/**
 * Records an answer, unless another attempt has recorded one or the case already has its outcome, which may overtake the
 * answer.
 */
async function record(
  { refunds }: RefundClients,
  input: refundExecution.ExecuteRefundInput,
  result: SubmissionResult,
  report: Omit<
    Parameters<RefundClients['refunds']['recordProviderOutcome']>[0],
    '$typeName' | 'idempotencyKey'
  >,
): Promise<SubmissionResult> {
  const idempotencyKey = `${refundExecution.workflowId(input.refundCaseId, input.execution)}:submission`;
  const recorded = refunds.recordProviderOutcome({ ...caseFields(input), idempotencyKey, ...report });
  return unlessRefused(
    recorded.then(() => result),
    { IDEMPOTENCY_KEY_REUSED: 'NOT_DUE', REFUND_CASE_STATE: 'NOT_DUE' },
  );
}
