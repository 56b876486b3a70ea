import { Type } from 'typebox';
import {
  MerchantDecisionKind,
  RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { reasonOf } from '../shell/failures.ts';
import type { Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import type { DecisionDraft } from './decision-forms.ts';
import { LATE, renderRefundCase } from './refund-case.page.ts';
import { refundCaseTexts } from './refund-case.texts.ts';
import { refundsTexts } from './refunds.texts.ts';

const MAX_REASON_LENGTH = 2_000;
/** More than a reason may have, so that one that is too long is shown again with a message. */
const MAX_FORM_LENGTH = 20_000;

const ApproveForm = Type.Object({
  approval_reason: Type.Optional(Type.String({ maxLength: MAX_FORM_LENGTH })),
});
const ContestForm = Type.Object({ contest_reason: Type.String({ maxLength: MAX_FORM_LENGTH }) });

export function decideRefundCaseActions(pages: Pages): void {
  const decide = async (
    view: View,
    id: string,
    key: string,
    { decision, ...form }: Omit<DecisionDraft, 'fault'>,
  ) => {
    const reason = form.reason.replaceAll('\r\n', '\n').trim();
    const fault = reasonFault(view, decision, reason);
    if (fault) {
      const refused = { decision: { decision, reason, fault } };
      return { ...(await renderRefundCase(view, id, refused)), status: 422 };
    }
    const kind = decision === 'approve' ? MerchantDecisionKind.APPROVED : MerchantDecisionKind.CONTESTED;
    const decided = { refundCaseId: id, decision: kind, ...(reason !== '' && { reason }) };
    try {
      await view.clients.refundCases.decideRefundCase({ idempotencyKey: key, ...decided });
    } catch (error) {
      if (reasonOf(error) !== 'REFUND_CASE_STATE') throw error;
      return { redirect: `/refunds/${id}`, notice: LATE };
    }
    return { redirect: `/refunds/${id}`, notice: decision === 'approve' ? 'approved' : 'contested' };
  };
  const rpc = RefundCaseService.method.decideRefundCase;
  const spec = { rpc, section: 'refunds', refusals: refundsTexts } as const;
  pages.action(
    { ...spec, path: '/refunds/:refundCaseId/approve', form: ApproveForm },
    (view, { params, form: { approval_reason = '' }, key }) =>
      decide(view, params.refundCaseId!, key, { decision: 'approve', reason: approval_reason }),
  );
  pages.action(
    { ...spec, path: '/refunds/:refundCaseId/contest', form: ContestForm },
    (view, { params, form: { contest_reason }, key }) =>
      decide(view, params.refundCaseId!, key, { decision: 'contest', reason: contest_reason }),
  );
}

function reasonFault(view: View, decision: DecisionDraft['decision'], reason: string): string | undefined {
  const t = textsFor(view, refundCaseTexts);
  const { length } = [...reason];
  if (decision === 'contest' && length === 0) return t.reasonMissing;
  return length > MAX_REASON_LENGTH ? t.reasonTooLong(view.format.number(length)) : undefined;
}
