import { Type } from 'typebox';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { renderDispute } from './dispute.page.ts';
import { disputesTexts } from './disputes.texts.ts';

const MAX_RESPONSE_LENGTH = 5_000;
/** More than a response may have, so that one that is too long is shown again with a message. */
const MAX_FORM_LENGTH = 50_000;

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
      await view.clients.refundCases.respondToDispute({ idempotencyKey: key, disputeId, text });
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
