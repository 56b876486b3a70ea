import { type RefundCase, RefundCaseOrder } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import { deadline } from '../refunds/refund-case.components.ts';
import { money } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { card, renderOrUnavailable } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

const MAX_CASES = 5;

/** The refund cases awaiting the merchant's decision, by deadline. */
export async function refundsCard(view: View, { refundCases }: DashboardClients): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const request = { ...view.tenant, order: RefundCaseOrder.REVIEW_DEADLINE, pageSize: MAX_CASES };
  let link = t.toRefunds;
  const content = await renderOrUnavailable(
    view,
    refundCases.listRefundCases(request, view.call),
    (answer) => {
      if (answer.nextPageToken !== '') link = t.allRefunds;
      if (answer.refundCases.length === 0) return html`<p>${t.noRefunds}</p>`;
      return html`<ul class="lines">${answer.refundCases.map((one) => line(view, one))}</ul>`;
    },
  );
  return card('refunds', t.refunds, content, html`<a href="${pathTo(view, '/refunds')}">${link}</a>`);
}

const line = (view: View, refundCase: RefundCase) =>
  html`<li><a href="${pathTo(view, `/refunds/${refundCase.id}`)}">${money(view, refundCase.amountMinor)}</a> ${deadline(view, refundCase)}</li>`;
