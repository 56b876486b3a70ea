import { RefundBlocker, type RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { confirmForm, field, form } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { refundCaseTexts } from './refund-case.texts.ts';

/** A rejected decision, and why it was rejected. */
export interface DecisionDraft {
  readonly decision: 'approve' | 'contest';
  readonly reason: string;
  readonly fault: string;
}

/** The forms for both decisions; with a draft, its text and why it was rejected. */
export function decisionForms(view: View, refundCase: RefundCase, draft?: DecisionDraft): Html {
  const t = textsFor(view, refundCaseTexts);
  const { id, amountMinor, blockedBy } = refundCase;
  const amount = view.format.money(amountMinor);
  const approval = blockedBy.includes(RefundBlocker.PAYMENT_DISPUTED)
    ? { text: t.approveDisputed, submit: t.approve }
    : { text: t.approveText(amount), submit: t.approveAmount(amount) };
  const reasonField = (decision: DecisionDraft['decision'], name: string, label: string) => {
    const rejected = draft?.decision === decision ? draft : undefined;
    return field(
      { name, label, hint: t.reasonHint, fault: rejected?.fault },
      (attributes) =>
        html`<textarea ${attributes} rows="4"${decision === 'contest' ? html` required` : nothing}>${rejected?.reason ?? ''}</textarea>`,
    );
  };
  return html`<div class="cards decisions">
<section class="card"><h3>${t.approve}</h3><p>${approval.text}</p>
${confirmForm(view, t.approveThis, {
  submit: approval.submit,
  action: `/refunds/${id}/approve`,
  fields: reasonField('approve', 'approval_reason', t.approvalReason),
  isOpen: draft?.decision === 'approve',
})}</section>
<section class="card"><h3>${t.contest}</h3><p>${t.contestText}</p>
${form(view, {
  action: `/refunds/${id}/contest`,
  submit: t.contest,
  tone: 'plain',
  fields: reasonField('contest', 'contest_reason', t.contestReason),
})}</section>
</div>`;
}
