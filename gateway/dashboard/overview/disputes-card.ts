import { type Dispute, DisputeOrder } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import { disputedAmount, dueDate, reasonText } from '../disputes/dispute.components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { card, renderOrUnavailable } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

const MAX_DISPUTES = 5;

/** The disputes awaiting the merchant's response, by due date. */
export async function disputesCard(view: View, { refundCases }: DashboardClients): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const request = { ...view.tenant, order: DisputeOrder.DUE_DATE, pageSize: MAX_DISPUTES };
  let link = t.toDisputes;
  const content = await renderOrUnavailable(
    view,
    refundCases.listDisputes(request, view.call),
    ({ disputes, nextPageToken }) => {
      if (nextPageToken !== '') link = t.allDisputes;
      if (disputes.length === 0) return html`<p>${t.noDisputes}</p>`;
      return html`<ul class="lines">${disputes.map((one) => line(view, one))}</ul>`;
    },
  );
  return card('disputes', t.disputes, content, html`<a href="${pathTo(view, '/disputes')}">${link}</a>`);
}

const line = (view: View, dispute: Dispute) =>
  html`<li><a href="${pathTo(view, `/disputes/${dispute.id}`)}">${reasonText(view, dispute)}</a> ${disputedAmount(view, dispute)} ${dueDate(view, dispute)}</li>`;
