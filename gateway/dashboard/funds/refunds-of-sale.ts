import type { RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type DashboardClients, MAX_PAGE_SIZE } from '../dashboard-clients.ts';
import { stateBadge } from '../refunds/refund-case.components.ts';
import { refundsTexts } from '../refunds/refunds.texts.ts';
import { amountColumn, dataTable, moment } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { salesTexts } from './sales.texts.ts';

/** The refund cases of a sale, newest first; nothing when it has none. */
export async function refundsOfSale(
  { refundCases: client }: Pick<DashboardClients, 'refundCases'>,
  view: View,
  saleId: string,
): Promise<Html> {
  const request = { ...view.tenant, saleIds: [saleId], pageSize: MAX_PAGE_SIZE };
  const { refundCases } = await client.listRefundCases(request, view.call);
  if (refundCases.length === 0) return nothing;
  const t = textsFor(view, refundsTexts);
  const table = dataTable<RefundCase>(
    t.newestHint,
    [
      {
        label: t.case,
        cell: ({ id }) => html`<a href="${pathTo(view, `/refunds/${id}`)}"><code>${id}</code></a>`,
      },
      amountColumn(view, t.amount, ({ amountMinor }) => amountMinor),
      { label: t.status, cell: (refundCase) => stateBadge(view, refundCase) },
      { label: t.requested, cell: ({ requestedAt }) => moment(view, requestedAt) },
    ],
    refundCases,
    '',
  );
  return html`<h2>${textsFor(view, salesTexts).refunds}</h2>${table}`;
}
