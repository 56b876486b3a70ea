import { type Static, Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  DisputeOrder,
  DisputeOutcome,
  DisputeStatus,
  RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { DISPUTE_COLUMNS } from '../exports/list-columns.ts';
import { DateRange, dateRangeParameters, fileParameters } from '../funds/date-range.ts';
import { readSaleNames } from '../funds/sale-names.ts';
import { dataTable, field, link, pageParameter, pager, select } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import {
  filterParameter,
  idFilterField,
  isIdOrEmpty,
  isUnfiltered,
  queryForm,
  refusedFilters,
} from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { disputeColumns } from './dispute-columns.ts';
import { disputesTexts } from './disputes.texts.ts';

const PAGE_SIZE = 25;

/** AWAITING: those awaiting the merchant's response, by due date. */
const STATUSES = ['AWAITING', 'OPEN', 'CLOSED', 'WON', 'LOST', 'REVERSED'] as const;

const Filter = { ...dateRangeParameters, status: filterParameter, payment: filterParameter };
/** Without a status, disputes awaiting the merchant's response; with an empty one, all. */
const Query = Type.Object({ ...Filter, page: pageParameter, notice: filterParameter });
/** Without a status, all. */
const CsvQuery = Type.Object({ ...fileParameters, ...Filter });

/** The range filters by the date opened. */
interface DisputeFilters {
  readonly range: DateRange;
  /** Undefined for every status. */
  readonly status: (typeof STATUSES)[number] | undefined;
  readonly payment: string;
}

/** The list of disputes: by default those awaiting the merchant's response, by due date. The same as a file. */
export function disputeListPages(pages: Pages): void {
  const options = { path: '/disputes', role: Role.VIEWER, section: 'disputes', query: Query } as const;
  pages.page(options, async (view, { query }) => {
    const filters = filtersOf(view, { status: 'AWAITING', ...query });
    const t = textsFor(view, disputesTexts);
    const form = filterForm(view, filters);
    if (hasFault(filters)) return refusedFilters(t.title, form, t.none);
    const { disputes, nextPageToken } = await view.clients.refundCases.listDisputes({
      ...requestOf(filters),
      pageSize: PAGE_SIZE,
      pageToken: query.page ?? '',
    });
    const names = await readSaleNames(view, disputes);
    const [hint, empty] =
      filters.status === 'AWAITING'
        ? [t.awaitingHint, html`${t.noneAwaiting} ${link(view, '/disputes?status=', t.all)}`]
        : [t.newestHint, isUnfiltered(requestOf(filters), query.page) ? t.empty : t.none];
    const table = dataTable(hint, disputeColumns(view, names), disputes, empty);
    const body = html`${form}
${csvLinks(view, '/disputes.csv', linkOf(filters))}
${liveRegion('disputes', table)}
${pager(view, nextPageToken)}`;
    return { title: t.title, body, live: { disputes: table } };
  });
  const rpc = RefundCaseService.method.exportDisputes;
  const file = { path: '/disputes.csv', rpc, section: 'disputes', query: CsvQuery } as const;
  pages.download(file, async (view, { query }) => {
    const filters = filtersOf(view, query);
    const request = { ...requestOf(filters), includeDeductions: true };
    return listDownload({
      name: filters.range.fileName('disputes'),
      columns: DISPUTE_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.refundCases.exportDisputes(request, options),
      rowsOf: ({ disputes, deductedAmountsMinor }) =>
        disputes.map((dispute) => ({ ...dispute, deductedAmountMinor: deductedAmountsMinor[dispute.id] })),
    });
  });
}

/** Ignores unknown values of a drop-down. */
const filtersOf = (
  view: View,
  { status, payment = '', ...bounds }: Static<typeof CsvQuery>,
): DisputeFilters => ({
  range: new DateRange(view, bounds),
  status: STATUSES.find((name) => name === status),
  payment: payment.trim(),
});

const hasFault = ({ range, payment }: DisputeFilters): boolean => range.hasFault || !isIdOrEmpty(payment);

const linkOf = ({ range, ...filters }: DisputeFilters) => ({ ...range.query, ...filters });

const requestOf = ({ range, status, payment }: DisputeFilters) => ({
  ...range.request,
  ...(status && requestOfStatus(status)),
  ...(payment && { paymentIntentId: payment }),
});

function requestOfStatus(status: (typeof STATUSES)[number]) {
  if (status === 'AWAITING') return { order: DisputeOrder.DUE_DATE };
  if (status === 'OPEN' || status === 'CLOSED') return { status: DisputeStatus[status] };
  return { outcome: DisputeOutcome[status] };
}

function filterForm(view: View, filters: DisputeFilters): Html {
  const t = textsFor(view, disputesTexts);
  const { range, status, payment } = filters;
  const statuses = STATUSES.map((name) => [name, t.filters[name]] as const);
  const fields = html`${field({ name: 'status', label: t.status }, select([...statuses, ['', t.filters.ALL]], status))}
${range.fields(t)}
${idFilterField(view, 'payment', t.payment, payment)}`;
  return queryForm(view, { fields, narrow: hasFault(filters) ? 'open' : 'collapsed' });
}
