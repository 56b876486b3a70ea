import { setTimeout as delay } from 'node:timers/promises';
import { create, toJsonString } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type {
  PayoutProviderService,
  RefundProviderService,
  SubmitRefundRequest,
} from '../../../proto/gen/payments/providers/v1/providers_pb.js';
import {
  ProviderOutcome,
  RecordProviderOutcomeRequestSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { ConnectorStore, Report } from './connector-store.ts';
import {
  OUTCOME_AFTER_MS,
  payoutOutcomeOf,
  REFUSED_CALLS,
  RETURN_AFTER_MS,
  type RefundOutcome,
  refundOutcomeOf,
  TIMED_OUT_CALLS,
} from './demo-outcomes.ts';

const TIMEOUT_MS = 3_000;

/** Accepts refunds, and notes what to report about them, by their amount. */
export function refundProviderService(store: ConnectorStore): ServiceImpl<typeof RefundProviderService> {
  return {
    async submitRefund(request) {
      const key = `refund/${request.refundCaseId}`;
      const calls = store.countCall(key);
      const outcome = refundOutcomeOf(request.amountMinor);
      if (outcome === 'TIMES_OUT' && calls <= TIMED_OUT_CALLS) {
        await delay(TIMEOUT_MS);
        throw new ConnectError('the bank did not answer in time', Code.DeadlineExceeded);
      }
      if (outcome === 'REFUSED') {
        return { result: { case: 'refused', value: { reason: 'the account is closed' } } };
      }
      const now = new Date();
      const submittedAt = timestampFromDate(store.accept(key, now, reportsOf(outcome, request, now)));
      const accepted = {
        providerRefundId: providerRefundId(request),
        submissionStatus: 'accepted',
        submittedAt,
      };
      return { result: { case: 'accepted', value: accepted } };
    },
  };
}

/** Accepts payouts by their amount. */
export function payoutProviderService(store: ConnectorStore): ServiceImpl<typeof PayoutProviderService> {
  return {
    submitPayout({ advanceRequestId, amountMinor }) {
      const key = `payout/${advanceRequestId}`;
      const calls = store.countCall(key);
      const outcome = payoutOutcomeOf(amountMinor);
      const isRefused =
        outcome === 'NEVER_ACCEPTED' || (outcome === 'ACCEPTED_LATER' && calls <= REFUSED_CALLS);
      if (isRefused) {
        return { result: { case: 'refused', value: { reason: 'the bank account is not confirmed' } } };
      }
      const acceptedAt = timestampFromDate(store.accept(key, new Date()));
      const providerPayoutId = `demo_po_${advanceRequestId.slice(0, 8)}`;
      return { result: { case: 'accepted', value: { providerPayoutId, acceptedAt } } };
    },
  };
}

/** Cases opened within a minute begin with the same digits. */
const providerRefundId = ({ refundCaseId }: SubmitRefundRequest) => `demo_rf_${refundCaseId.slice(-12)}`;

/** What is reported about an accepted refund, and when. */
function reportsOf(outcome: RefundOutcome, request: SubmitRefundRequest, now: Date): Report[] {
  const report = (
    provider: ProviderOutcome,
    submissionStatus: string,
    afterMs = OUTCOME_AFTER_MS,
  ): Report => {
    const { merchantId, environment, refundCaseId } = request;
    const id = `demo-connector-${refundCaseId}-${ProviderOutcome[provider].toLowerCase()}`;
    const message = create(RecordProviderOutcomeRequestSchema, {
      merchantId,
      environment,
      refundCaseId,
      idempotencyKey: id,
      outcome: provider,
      submissionStatus,
      providerRefundId: providerRefundId(request),
    });
    return {
      id,
      request: toJsonString(RecordProviderOutcomeRequestSchema, message),
      dueAt: now.getTime() + afterMs,
    };
  };
  switch (outcome) {
    case 'SUCCEEDS':
    case 'TIMES_OUT':
      return [report(ProviderOutcome.SUCCEEDED, 'settled')];
    case 'FAILS':
      return [report(ProviderOutcome.FAILED, 'rejected')];
    case 'FAILS_LATE':
      return [
        report(ProviderOutcome.SUCCEEDED, 'settled'),
        report(ProviderOutcome.FAILED, 'returned', RETURN_AFTER_MS),
      ];
    case 'STAYS_SILENT':
    case 'REFUSED':
      return [];
    default:
      return outcome satisfies never;
  }
}
