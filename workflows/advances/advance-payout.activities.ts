import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { type AdvanceRequest, PayoutAnswer } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { PayoutResult } from '../../services/contracts/advances/advance-payout.contract.ts';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import { CURRENCY } from '../../services/platform/amounts.ts';
import { callProvider, ProviderError } from '../call-provider.ts';
import { referenceOf } from '../provider-reference.ts';
import { type AdvanceClients, advanceFields } from './advance-clients.ts';

const REASON_MAX_LENGTH = 1_000;

/** The activity that submits payouts to the provider. */
export function createPayoutActivities({ advances, payoutProvider }: AdvanceClients) {
  /** Records each call to the provider separately, because the request counts them. */
  const record = (input: AdvanceRequestKey, answer: RecordedAnswer) =>
    advances.recordPayoutAnswer({ ...advanceFields(input), idempotencyKey: randomUUID(), answer });
  return {
    /**
     * Submits the payout once and records the answer; fails unless the provider accepts it, to be retried. Idempotent: an
     * accepted payout is not submitted again, and the provider returns its first acceptance to a repeated call. So a payout that
     * the bank returned is paid again by other means.
     */
    async submitPayout(input: AdvanceRequestKey): Promise<PayoutResult> {
      if (payoutProvider === undefined) return 'NO_PROVIDER';
      const { advanceRequest } = await advances.getAdvanceRequest(advanceFields(input));
      if (!advanceRequest) throw new TypeError('the response contains no advance request');
      const { payout } = advanceRequest;
      if (payout?.acceptedAt) return 'ACCEPTED';
      if (payout?.lastAnswer === PayoutAnswer.RETURNED) return 'RETURNED';
      const submission = { provider: 'payout', environment: input.environment } as const;
      try {
        const answer = await callProvider(submission, (options) =>
          payoutProvider.submitPayout(submissionOf(advanceRequest), options),
        );
        if (answer.case === 'accepted') {
          const { providerPayoutId, acceptedAt } = answer.value;
          await record(input, { case: 'accepted', value: { providerPayoutId, acceptedAt } });
          return 'ACCEPTED';
        }
        const { reason } = answer.value;
        await record(input, { case: 'refused', value: reason });
        throw ApplicationFailure.create({ message: reason, type: 'PAYOUT_REFUSED' });
      } catch (error) {
        if (error instanceof ProviderError) {
          await record(input, { case: 'failed', value: reasonOf(error) });
        }
        throw error;
      }
    },
  };
}

/** What the provider answered, as services accept it: a refusal of the record would end the retries. */
const reasonOf = ({ message }: ProviderError) =>
  message.replaceAll('\0', '\ufffd').slice(0, REASON_MAX_LENGTH).toWellFormed();

type RecordedAnswer = NonNullable<Parameters<AdvanceClients['advances']['recordPayoutAnswer']>[0]['answer']>;

function submissionOf({ id, merchantId, environment, netAmountMinor, releasedAt }: AdvanceRequest) {
  return {
    merchantId,
    environment,
    advanceRequestId: id,
    releasedAt,
    amountMinor: netAmountMinor,
    currency: CURRENCY,
    reference: referenceOf(id),
  };
}
