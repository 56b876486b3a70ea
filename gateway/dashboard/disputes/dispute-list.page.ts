import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Dispute } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { csvLinks } from '../exports/csv-links.ts';
import { namedSaleOf, readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import { dataTable, field, moment, pageParameter, pager, select } from '../shell/components.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { type Html, html } from '../shell/html.ts';
import { layoutTexts } from '../shell/layout.texts.ts';
import { liveRegion } from '../shell/live.ts';
import { filterField, filterParameter, isIdOrEmpty, queryForm, refusedFilters } from '../shell/query-form.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { disputedAmount, dueDate, reasonText, stateBadge } from './dispute.components.ts';
import {
  type DisputeFilters,
  filterFields,
  filterParameters,
  filtersOf,
  STATUSES,
} from './dispute-filters.ts';
import { disputesTexts } from './disputes.texts.ts';

const PAGE_SIZE = 25;

const Query = Type.Object({
  /** Without a status, disputes awaiting the merchant's response; with an empty one, all. */
  ...filterParameters,
  page: pageParameter,
  notice: filterParameter,
});

/** The list of disputes: by default those awaiting the merchant's response, by due date. */
export function disputeListPage({ pages, clients }: FeatureDependencies): void {
  pages.page(
    { path: '/disputes', role: Role.VIEWER, section: 'disputes', query: Query },
    async (view, { query }) => {
      const filters = filtersOf({ status: 'AWAITING', ...query });
      const t = textsFor(view, disputesTexts);
      if (!isIdOrEmpty(filters.payment)) return refusedFilters(t.title, filterForm(view, filters), t.none);
      const { disputes, nextPageToken } = await clients.refundCases.listDisputes(
        { ...view.tenant, ...filterFields(filters), pageSize: PAGE_SIZE, pageToken: query.page ?? '' },
        view.call,
      );
      const names = await readSaleNames(clients, view, disputes);
      const table = disputeTable(view, filters, disputes, names);
      const body = html`${filterForm(view, filters)}
${csvLinks(view, '/disputes.csv', { status: filters.status ?? '', payment: filters.payment })}
${liveRegion('disputes', table)}
${pager(view, nextPageToken)}`;
      return { title: t.title, body, live: { disputes: table } };
    },
  );
}

function filterForm(view: View, { status, payment }: DisputeFilters): Html {
  const t = textsFor(view, disputesTexts);
  const statuses = STATUSES.map((name) => [name, t.filters[name]] as const);
  const fault = isIdOrEmpty(payment) ? undefined : t.notAnId;
  const fields = html`${field({ name: 'status', label: t.status }, select([...statuses, ['', t.filters.ALL]], status ?? ''))}
${filterField({ name: 'payment', label: t.payment, fault }, payment)}`;
  const collapsed = { summary: textsFor(view, layoutTexts).filters, open: fault !== undefined };
  return queryForm({ action: pathTo(view, '/disputes'), fields, submit: t.filter, collapsed });
}

function disputeTable(
  view: View,
  { status }: DisputeFilters,
  disputes: readonly Dispute[],
  names: SaleNames,
): Html {
  const t = textsFor(view, disputesTexts);
  const isAwaiting = status === 'AWAITING';
  if (isAwaiting && disputes.length === 0) {
    return html`<p class="empty">${t.noneAwaiting} <a href="${pathTo(view, '/disputes?status=')}">${t.all}</a></p>`;
  }
  return dataTable<Dispute>(
    isAwaiting ? t.awaitingHint : t.newestHint,
    [
      {
        label: t.reason,
        isFreeText: true,
        cell: (dispute) =>
          html`<a href="${pathTo(view, `/disputes/${dispute.id}`)}">${reasonText(view, dispute)}</a>`,
      },
      {
        label: textsFor(view, salesTexts).sale,
        isFreeText: true,
        cell: ({ saleId }) => namedSaleOf(view, saleId, names),
      },
      { label: t.amount, isNumber: true, cell: (dispute) => disputedAmount(view, dispute) },
      { label: t.status, cell: (dispute) => stateBadge(view, dispute) },
      { label: t.dueDate, cell: (dispute) => dueDate(view, dispute) },
      { label: t.opened, cell: ({ openedAt }) => moment(view, openedAt) },
    ],
    disputes,
    t.none,
  );
}
