import type { Dispute } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { disputedAmount, reasonText, stateBadge } from '../disputes/dispute.components.ts';
import { disputesTexts } from '../disputes/disputes.texts.ts';
import type { Disputes } from '../disputes/find-disputes.ts';
import { MAX_PAGE_SIZE } from '../merchant-clients.ts';
import { dataTable, link, moment } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { salesTexts } from './sales.texts.ts';

/** The disputes of a sale, newest first. Among them are all that block its installments. */
export async function disputesOfSale(view: View, saleId: string): Promise<Disputes> {
  const request = { saleIds: [saleId], pageSize: MAX_PAGE_SIZE };
  const { disputes } = await view.clients.refundCases.listDisputes(request);
  return new Map(disputes.map((dispute) => [dispute.id, dispute]));
}

/** A table of the disputes of a sale; nothing when it has none. */
export function disputesOfSaleTable(view: View, disputes: Disputes): Html {
  if (disputes.size === 0) return nothing;
  const t = textsFor(view, disputesTexts);
  const table = dataTable<Dispute>(
    t.newestHint,
    [
      {
        label: t.reason,
        isFreeText: true,
        cell: (dispute) => link(view, `/disputes/${dispute.id}`, reasonText(view, dispute)),
      },
      { label: t.amount, isNumber: true, cell: (dispute) => disputedAmount(view, dispute) },
      { label: t.status, cell: (dispute) => stateBadge(view, dispute) },
      { label: t.opened, cell: ({ openedAt }) => moment(view, openedAt) },
    ],
    [...disputes.values()],
    '',
  );
  return html`<h2>${textsFor(view, salesTexts).disputes}</h2>${table}`;
}
