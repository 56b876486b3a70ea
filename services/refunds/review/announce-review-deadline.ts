import type { HandlerContext } from '@connectrpc/connect';
import type {
  AnnounceReviewDeadlineRequest,
  AnnounceReviewDeadlineResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { publishEvents } from '../refund-case.event.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockRefundCase } from '../refund-case-store.ts';
import { announceDeadline } from './refund-review.ts';

export interface NoticeDependencies {
  readonly writes: Writes;
  /** How long before a deadline the merchant is notified. */
  readonly noticeMs: number;
}

/** Notifies the merchant, once, that the deadline of its review approaches. */
export function announceReviewDeadline(
  { writes, noticeMs }: NoticeDependencies,
  request: AnnounceReviewDeadlineRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof AnnounceReviewDeadlineResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    const { changes, events } = announceDeadline(row, noticeMs, at);
    if (events.length === 0) return { refundCase: storedRefundCaseMessage(row) };
    Object.assign(row, changes);
    tx.logStep("the deadline of a refund case's review was announced", { refundCaseId: row.id, events });
    await publishEvents(tx, row, events, at);
    // No mail about the sandbox.
    if (tx.tenant.environment === 'live') {
      const { merchantId } = tx.tenant;
      const notice = { ...tx.tenant, kind: 'REFUND_DEADLINES', subjectId: merchantId } as const;
      await tx.command(notifyContact.startCommand(notice));
    }
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
