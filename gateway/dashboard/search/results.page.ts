import type { AdvanceRequest } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Sale } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Dispute, RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { advanceColumns } from '../advances/advance-columns.ts';
import { disputeColumns } from '../disputes/dispute-columns.ts';
import { fundsTexts } from '../funds/funds.texts.ts';
import { saleBadge } from '../funds/sale.components.ts';
import { namedSale, namedSaleOf } from '../funds/sale-names.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import { caseColumns } from '../refunds/refund-case.components.ts';
import { canSee } from '../shell/access.ts';
import { amountColumn, dataTable, link, moment } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { type Page, textsFor, type View } from '../shell/view.ts';
import type { FoundRecord, Matches } from './find-matches.ts';
import { searchTexts } from './search.texts.ts';

interface Results {
  readonly text: string;
  readonly records: readonly FoundRecord[];
  readonly matches: Matches;
}

/** What the viewer can search for. */
export function promptText(view: View): string {
  const t = textsFor(view, searchTexts);
  return canSee(view, 'webhooks') ? t.prompt : t.noEndpoints;
}

export function resultsPage(view: View, { text, records, matches }: Results): Page {
  const t = textsFor(view, searchTexts);
  const { sales, refundCases, disputes, advances, endpoints, hasMore, hasMoreOfCustomer } = matches;
  const isEmpty = [records, sales, refundCases, disputes, advances, endpoints].every(
    ({ length }) => length === 0,
  );
  return {
    title: t.titleOf(text),
    body: isEmpty
      ? html`<p class="empty">${t.none(text)}</p><p class="hint">${promptText(view)} ${t.noneHint}</p>`
      : html`${records.length > 0 ? recordTable(view, text, records) : nothing}
${sales.length > 0 ? saleTable(view, sales, matches) : nothing}
${hasMoreOfCustomer ? html`<p>${link(view, `/funds/sales?${new URLSearchParams({ customer: text })}`, t.ofCustomer)}</p>` : nothing}
${refundCases.length > 0 ? caseTable(view, refundCases, matches) : nothing}
${disputes.length > 0 ? disputeTable(view, disputes, matches) : nothing}
${advances.length > 0 ? advanceTable(view, advances) : nothing}
${endpoints.length > 0 ? endpointTable(view, endpoints) : nothing}
${hasMore ? html`<p class="hint">${t.more}</p>` : nothing}`,
  };
}

function recordTable(view: View, id: string, records: readonly FoundRecord[]): Html {
  const t = textsFor(view, searchTexts);
  const columns = [
    { label: t.kind, cell: ({ kind }: FoundRecord) => t.kinds[kind] },
    { label: t.id, cell: ({ path }: FoundRecord) => link(view, path, html`<code>${id}</code>`) },
  ];
  return dataTable(t.records, columns, records, '');
}

function saleTable(view: View, sales: readonly Sale[], { names }: Matches): Html {
  const t = textsFor(view, salesTexts);
  const columns = [
    { label: t.sale, isFreeText: true, cell: (sale: Sale) => namedSale(view, sale, names.products) },
    { label: t.captured, cell: ({ capturedAt }: Sale) => moment(view, capturedAt) },
    amountColumn<Sale>(view, textsFor(view, fundsTexts).amounts.gross, (sale) => sale.grossAmountMinor),
    { label: t.status, cell: (sale: Sale) => saleBadge(view, sale) },
  ];
  return dataTable(textsFor(view, searchTexts).sales, columns, sales, '');
}

function caseTable(view: View, cases: readonly RefundCase[], { names }: Matches): Html {
  const { id, ...others } = caseColumns(view);
  const sale = {
    label: textsFor(view, salesTexts).sale,
    isFreeText: true,
    cell: ({ saleId }: RefundCase) => namedSaleOf(view, saleId, names),
  };
  return dataTable(textsFor(view, searchTexts).refunds, [id, sale, ...Object.values(others)], cases, '');
}

function disputeTable(view: View, disputes: readonly Dispute[], { names }: Matches): Html {
  return dataTable(textsFor(view, searchTexts).disputes, disputeColumns(view, names), disputes, '');
}

function advanceTable(view: View, advances: readonly AdvanceRequest[]): Html {
  return dataTable(textsFor(view, searchTexts).advances, advanceColumns(view), advances, '');
}

function endpointTable(view: View, endpoints: readonly WebhookSubscription[]): Html {
  const t = textsFor(view, searchTexts);
  const cell = ({ id, url }: WebhookSubscription) => link(view, `/webhooks/${id}`, html`<code>${url}</code>`);
  return dataTable(t.endpoints, [{ label: 'URL', isFreeText: true, cell }], endpoints, '');
}
