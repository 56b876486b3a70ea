import { type Static, Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type Dispute,
  DisputeOrder,
  DisputeStatus,
  RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { DISPUTE_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeOf, fileName, fileParameters, requireValidRange } from '../funds/date-range.ts';
import { namedSaleOf, readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import { dataTable, field, link, moment, pageParameter, pager, select } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import {
  filterParameter,
  idFilterField,
  isIdOrEmpty,
  queryForm,
  refusedFilters,
} from '../shell/query-form.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { disputedAmount, dueDate, reasonText, stateBadge } from './dispute.components.ts';
import { disputesTexts } from './disputes.texts.ts';

const PAGE_SIZE = 25;

/** AWAITING: those awaiting the merchant's response, by due date. */
const STATUSES = ['AWAITING', 'OPEN', 'CLOSED'] as const;

const Filter = { status: filterParameter, payment: filterParameter };
/** Without a status, disputes awaiting the merchant's response; with an empty one, all. */
const Query = Type.Object({ ...Filter, page: pageParameter, notice: filterParameter });
/** Of disputes that were opened in the range; without a status, all. */
const CsvQuery = Type.Object({ ...Filter, ...fileParameters });

interface DisputeFilters {
  /** Undefined for every status. */
  readonly status: (typeof STATUSES)[number] | undefined;
  readonly payment: string;
}

/** The list of disputes: by default those awaiting the merchant's response, by due date. */
export function disputeListPage(pages: Pages): void {
  const options = { path: '/disputes', role: Role.VIEWER, section: 'disputes', query: Query } as const;
  pages.page(options, async (view, { query }) => {
    const filters = filtersOf({ status: 'AWAITING', ...query });
    const t = textsFor(view, disputesTexts);
    if (!isIdOrEmpty(filters.payment)) return refusedFilters(t.title, filterForm(view, filters), t.none);
    const { disputes, nextPageToken } = await view.clients.refundCases.listDisputes({
      ...requestOf(filters),
      pageSize: PAGE_SIZE,
      pageToken: query.page ?? '',
    });
    const names = await readSaleNames(view, disputes);
    const table = disputeTable(view, filters, disputes, names);
    const body = html`${filterForm(view, filters)}
${csvLinks(view, '/disputes.csv', { status: filters.status ?? '', payment: filters.payment })}
${liveRegion('disputes', table)}
${pager(view, nextPageToken)}`;
    return { title: t.title, body, live: { disputes: table } };
  });
}

/** /disputes.csv: disputes as a file, in the order of the list. */
export function disputeDownload(pages: Pages): void {
  const rpc = RefundCaseService.method.exportDisputes;
  const options = { path: '/disputes.csv', rpc, section: 'disputes', query: CsvQuery } as const;
  pages.download(options, async (view, { query }) => {
    const range = requireValidRange(view, query);
    const request = { ...dateRangeOf(range), ...requestOf(filtersOf(query)) };
    return listDownload({
      name: fileName('disputes', range),
      columns: DISPUTE_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.refundCases.exportDisputes(request, options),
      rowsOf: ({ disputes }) => disputes,
    });
  });
}

/** Ignores unknown values of a drop-down. */
function filtersOf({ status, payment = '' }: Static<typeof CsvQuery>): DisputeFilters {
  return { status: STATUSES.find((name) => name === status), payment: payment.trim() };
}

const requestOf = ({ status, payment }: DisputeFilters) => ({
  ...(status === 'AWAITING' ? { order: DisputeOrder.DUE_DATE } : status && { status: DisputeStatus[status] }),
  ...(payment && { paymentIntentId: payment }),
});

function filterForm(view: View, { status, payment }: DisputeFilters): Html {
  const t = textsFor(view, disputesTexts);
  const statuses = STATUSES.map((name) => [name, t.filters[name]] as const);
  const fields = html`${field({ name: 'status', label: t.status }, select([...statuses, ['', t.filters.ALL]], status ?? ''))}
${idFilterField(view, 'payment', t.payment, payment)}`;
  return queryForm(view, { fields, narrow: isIdOrEmpty(payment) ? 'collapsed' : 'open' });
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
        cell: (dispute) => link(view, `/disputes/${dispute.id}`, reasonText(view, dispute)),
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
