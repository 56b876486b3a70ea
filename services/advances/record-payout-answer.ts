import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  RecordPayoutAnswerRequest,
  RecordPayoutAnswerResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { cancelCommand, notifyOfOutcome } from '../contracts/accounts/notify-contact.contract.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import { afterPayoutAnswer, endsUnpaidNotice, type PayoutAnswer, unpaidNoticeAt } from './advance-payout.ts';
import { lockRequest, storeChanges } from './advance-store.ts';

/** Records how the provider answered a call that submitted a payout, or that the bank returned it. Publishes nothing. */
export function recordPayoutAnswer(
  writes: Writes,
  request: RecordPayoutAnswerRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof RecordPayoutAnswerResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, request.advanceRequestId);
    const changes = afterPayoutAnswer(row, answerOf(request), at);
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
