import { Type } from 'typebox';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { reasonOf } from '../shell/failures.ts';
import type { Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { LATE, renderDispute } from './dispute.page.ts';
import { disputesTexts } from './disputes.texts.ts';

const MAX_RESPONSE_LENGTH = 5_000;
/** More than a response may have, so that one that is too long is shown again with a message. */
const MAX_FORM_LENGTH = 50_000;

/** The dispute no longer awaits a response. */
const LATE_REASONS: ReadonlySet<string | undefined> = new Set([
  'DISPUTE_CLOSED',
  'DISPUTE_RESPONDED',
  'DISPUTE_RESPONSE_OVERDUE',
]);

const ResponseForm = Type.Object({ response: Type.String({ maxLength: MAX_FORM_LENGTH }) });

/** Sends the merchant's response to a dispute. */
export function respondToDisputeAction(pages: Pages): void {
  pages.action(
    {
      path: '/disputes/:disputeId/respond',
      rpc: RefundCaseService.method.respondToDispute,
      section: 'disputes',
      refusals: disputesTexts,
      form: ResponseForm,
    },
    async (view, { params, form: { response }, key }) => {
      const disputeId = params.disputeId!;
      const text = response.replaceAll('\r\n', '\n').trim();
      const fault = responseFault(view, text);
      if (fault) {
        const refused = { response: { text, fault } };
        return { ...(await renderDispute(view, disputeId, refused)), status: 422 };
      }
      try {
        await view.clients.refundCases.respondToDispute({ idempotencyKey: key, disputeId, text });
      } catch (error) {
        if (!LATE_REASONS.has(reasonOf(error))) throw error;
        return { redirect: `/disputes/${disputeId}`, notice: LATE };
      }
      return { redirect: `/disputes/${disputeId}`, notice: 'responded' };
    },
  );
}

function responseFault(view: View, text: string): string | undefined {
  const t = textsFor(view, disputesTexts);
  const { length } = [...text];
  if (length === 0) return t.responseMissing;
  return length > MAX_RESPONSE_LENGTH ? t.responseTooLong(view.format.number(length)) : undefined;
}
