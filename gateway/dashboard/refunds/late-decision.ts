import {
  MerchantDecisionKind,
  type RefundCase,
  RefundCaseService,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { findCaller } from '../audit/find-caller.ts';
import { textsFor, type View } from '../shell/view.ts';
import { refundCaseTexts } from './refund-case.texts.ts';

/** Why a case no longer awaited the decision that was submitted: who had decided what, or what else had happened. */
export async function lateDecisionText(
  view: View,
  { id: refundCaseId, status, merchantDecision }: RefundCase,
): Promise<string> {
  const t = textsFor(view, refundCaseTexts).late;
  if (merchantDecision?.decision === MerchantDecisionKind.EXPIRED) return t.expired;
  if (merchantDecision) {
    const { decision, decidedAt } = merchantDecision;
    const method = RefundCaseService.method.decideRefundCase;
    const person = await findCaller(view, method, { refundCaseId }, decidedAt);
    const isApproved = decision === MerchantDecisionKind.APPROVED;
    return (isApproved ? t.approved : t.contested)(person, view.format.dateTime(decidedAt));
  }
  return status === RefundCaseStatus.CANCELED ? t.withdrawn : t.notAwaited;
}
