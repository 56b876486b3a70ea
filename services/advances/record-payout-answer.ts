import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  RecordPayoutAnswerRequest,
  RecordPayoutAnswerResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { cancelCommand, notifyOfOutcome } from '../contracts/accounts/notify-contact.contract.ts';
import { counterBy } from '../platform/process/telemetry.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { ENVIRONMENTS } from '../platform/tenant.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import {
  afterPayoutAnswer,
  endsUnpaidNotice,
  type PayoutAnswer,
  secondPayoutOf,
  unpaidNoticeAt,
} from './advance-payout.ts';
import { lockRequest, storeChanges } from './advance-store.ts';

/** Counted in the process that refuses the answer; the alert is in services/advances/alerts.yaml. */
const secondPayouts = counterBy('environment', ENVIRONMENTS, {
  name: 'payments_payouts_second_total',
  help: 'Acceptances of another payout of an advance whose payout is accepted, by environment. All are refused.',
});

interface AnswerDependencies {
  readonly writes: Writes;
  readonly logger: Logger;
}

/**
 * Records how the provider answered a call that submitted a payout, or that the bank returned it. Publishes nothing. A second
 * payout is refused, counted and logged.
 */
export function recordPayoutAnswer(
  { writes, logger }: AnswerDependencies,
  request: RecordPayoutAnswerRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RecordPayoutAnswerResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, request.advanceRequestId);
    const answer = answerOf(request);
    const secondPayoutId = secondPayoutOf(row, answer);
    if (secondPayoutId !== undefined) {
      secondPayouts.inc({ environment: tx.tenant.environment });
      const payouts = { providerPayoutId: row.payoutProviderId, secondPayoutId };
      const advance = { ...tx.tenant, advanceRequestId: row.id, requestId: tx.requestId };
      logger.warn({ ...advance, ...payouts }, 'a second payout of an advance was accepted');
    }
    const changes = afterPayoutAnswer(row, answer, at);
    storeChanges(tx, row, changes);
    if (endsUnpaidNotice(row, changes)) await tx.command(cancelCommand('ADVANCE_UNPAID', row.id));
    const noticeAt = unpaidNoticeAt(changes);
    if (noticeAt) {
      const quietUntil = noticeAt.toISOString();
      await notifyOfOutcome(tx, { kind: 'ADVANCE_UNPAID', subjectId: row.id, quietUntil }, noticeAt);
    }
    return { advanceRequest: storedAdvanceRequestMessage(row) };
  });
}

function answerOf({ answer }: RecordPayoutAnswerRequest): PayoutAnswer {
  switch (answer.case) {
    case 'accepted': {
      const { providerPayoutId, acceptedAt } = answer.value;
      return { answer: 'ACCEPTED', providerPayoutId, acceptedAt: acceptedAt && timestampDate(acceptedAt) };
    }
    case 'refused':
      return { answer: 'REFUSED', reason: answer.value };
    case 'failed':
      return { answer: 'FAILED', reason: answer.value };
    case 'returned': {
      const { providerPayoutId, reason } = answer.value;
      return { answer: 'RETURNED', providerPayoutId, reason };
    }
    case undefined:
      throw new TypeError('a validated request has an answer');
    default:
      return answer satisfies never;
  }
}
