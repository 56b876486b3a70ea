import { type Dispute, RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { findCaller } from '../audit/find-caller.ts';
import { textsFor, type View } from '../shell/view.ts';
import { disputesTexts } from './disputes.texts.ts';

/** Why a dispute no longer awaited the response that was submitted: who had responded, or what else had happened. */
export async function lateResponseText(
  view: View,
  { id: disputeId, response, closedAt, dueAt }: Dispute,
): Promise<string> {
  const t = textsFor(view, disputesTexts).late;
  if (response) {
    const { respondedAt } = response;
    const method = RefundCaseService.method.respondToDispute;
    const person = await findCaller(view, method, { disputeId }, respondedAt);
    return t.responded(person, view.format.dateTime(respondedAt));
  }
  return closedAt ? t.closed(view.format.dateTime(closedAt)) : t.overdue(view.format.dateTime(dueAt));
}
