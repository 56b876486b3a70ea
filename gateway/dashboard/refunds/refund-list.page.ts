import { type Static, Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type RefundCase,
  RefundCaseOrder,
  RefundCaseService,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { REFUND_COLUMNS } from '../exports/list-columns.ts';
import { DateRange, dateRangeParameters, fileParameters } from '../funds/date-range.ts';
import { namedSaleOf, readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import {
  amountColumn,
  type Column,
  dataTable,
  field,
  link,
  moment,
  pageParameter,
  pager,
  select,
} from '../shell/components.ts';
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
import { blockers, deadline, STATES, type StateName, stateBadge } from './refund-case.components.ts';
import { refundsTexts } from './refunds.texts.ts';

const PAGE_SIZE = 25;
const EXCERPT_LENGTH = 80;
/** The value of the status filter for approved cases that something blocks. */
const BLOCKED = 'BLOCKED';
const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;

const Filter = {
  ...dateRangeParameters,
  status: filterParameter,
  initiator: filterParameter,
  payment: filterParameter,
  order: filterParameter,
};
/** Without a status, cases awaiting the merchant's decision; with an empty one, all. */
const Query = Type.Object({ ...Filter, page: pageParameter, notice: filterParameter });
/** Without a status, all. */
const CsvQuery = Type.Object({ ...fileParameters, ...Filter });

/** The range filters by the date requested. */
interface Filters {
  readonly range: DateRange;
  readonly state: StateName | undefined;
  /** Only approved cases that something blocks. */
  readonly isBlocked: boolean;
  readonly initiator: (typeof INITIATORS)[number] | undefined;
  readonly payment: string;
  readonly order: string;
}

/** The list of refund cases: by default those awaiting the merchant's decision, by deadline. As a file, newest first. */
export function refundListPages(pages: Pages): void {
  const options = { path: '/refunds', role: Role.VIEWER, section: 'refunds', query: Query } as const;
  pages.page(options, async (view, { query }) => {
    const filters = filtersOf(view, { status: 'MERCHANT_REVIEW', ...query });
    const t = textsFor(view, refundsTexts);
    const form = filterForm(view, filters);
    if (hasFault(filters)) return refusedFilters(t.title, form, t.none);
    const { refundCases, nextPageToken } = await view.clients.refundCases.listRefundCases({
      ...requestOf(filters),
      pageSize: PAGE_SIZE,
      pageToken: query.page ?? '',
    });
    const names = await readSaleNames(view, refundCases);
    const [hint, empty] =
      filters.state === 'MERCHANT_REVIEW'
        ? [t.awaitingHint, html`${t.noneAwaiting} ${link(view, '/refunds?status=', t.all)}`]
        : [t.newestHint, isUnfiltered(matching(filters), query.page) ? t.empty : t.none];
    const cases = dataTable(hint, caseColumns(view, names), refundCases, empty);
    const body = html`${form}
${csvLinks(view, '/refunds.csv', linkOf(filters))}
${liveRegion('cases', cases)}
${pager(view, nextPageToken)}`;
    return { title: t.title, body, live: { cases } };
  });
  const rpc = RefundCaseService.method.exportRefundCases;
  const file = { path: '/refunds.csv', rpc, section: 'refunds', query: CsvQuery } as const;
  pages.download(file, async (view, { query }) => {
    const filters = filtersOf(view, query);
    const request = matching(filters);
    return listDownload({
      name: filters.range.fileName('refunds'),
      columns: REFUND_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.refundCases.exportRefundCases(request, options),
      rowsOf: ({ refundCases }) => refundCases,
    });
  });
}

const linkOf = ({ range, state, isBlocked, ...filters }: Filters) => ({
  ...range.query,
  status: statusOf({ state, isBlocked }),
  ...filters,
});

const statusOf = ({ state, isBlocked }: Pick<Filters, 'state' | 'isBlocked'>) =>
  isBlocked ? BLOCKED : state;

/** Ignores unknown values of a drop-down. */
function filtersOf(view: View, query: Static<typeof CsvQuery>): Filters {
  const { status, initiator, payment = '', order = '' } = query;
  return {
    range: new DateRange(view, query),
    state: STATES.find((name) => name === status),
    isBlocked: status === BLOCKED,
    initiator: INITIATORS.find((name) => name === initiator),
    payment: payment.trim(),
    order: order.trim(),
  };
}

const hasFault = ({ range, payment, order }: Filters): boolean =>
  range.hasFault || !isIdOrEmpty(payment) || !isIdOrEmpty(order);

const matching = ({ range, state, isBlocked, initiator, payment, order }: Filters) => ({
  ...range.request,
  ...(isBlocked && { blockedOnly: true }),
  ...(state && { status: RefundCaseStatus[state] }),
  ...(initiator && { initiator: RefundInitiator[initiator] }),
  ...(payment && { paymentIntentId: payment }),
  ...(order && { orderId: order }),
});

/** Cases awaiting the merchant's decision are listed by deadline. */
const requestOf = (filters: Filters) =>
  filters.state === 'MERCHANT_REVIEW'
    ? { ...matching({ ...filters, state: undefined }), order: RefundCaseOrder.REVIEW_DEADLINE }
    : matching(filters);

function filterForm(view: View, filters: Filters): Html {
  const t = textsFor(view, refundsTexts);
  const { range, initiator, payment, order } = filters;
  const states = STATES.map((name) => [name, t.states[name]] as const);
  const statuses = [...states, [BLOCKED, t.approvedButBlocked], ['', t.anyStatus]] as const;
  const initiators = INITIATORS.map((name) => [name, t.initiators[name]] as const);
  const fields = html`${field({ name: 'status', label: t.status }, select(statuses, statusOf(filters)))}
${field({ name: 'initiator', label: t.initiator }, select([['', t.anyInitiator], ...initiators], initiator))}
${range.fields(t)}
${idFilterField(view, 'payment', t.payment, payment)}
${idFilterField(view, 'order', t.order, order)}`;
  return queryForm(view, { fields, narrow: hasFault(filters) ? 'open' : 'collapsed' });
}

function caseColumns(view: View, names: SaleNames): Column<RefundCase>[] {
  const t = textsFor(view, refundsTexts);
  return [
    {
      label: t.case,
      isFreeText: true,
      narrow: 'start',
      cell: ({ id, reason }) => link(view, `/refunds/${id}`, excerpt(reason)),
    },
    {
      label: textsFor(view, salesTexts).sale,
      isFreeText: true,
      narrow: 'start',
      cell: ({ saleId }) => namedSaleOf(view, saleId, names),
    },
    { ...amountColumn<RefundCase>(view, t.amount, ({ amountMinor }) => amountMinor), narrow: 'end' },
    { label: t.status, narrow: 'end', cell: (refundCase) => stateBadge(view, refundCase) },
    { label: t.deadline, narrow: 'wide', cell: (refundCase) => deadline(view, refundCase) },
    { label: t.blockers, narrow: 'end', cell: (refundCase) => blockers(view, refundCase) },
    { label: t.requested, narrow: 'hidden', cell: ({ requestedAt }) => moment(view, requestedAt) },
  ];
}

/** The start of a text; never empty, as it is a link's text. */
function excerpt(text: string): string {
  const characters = [...text.trim()];
  if (characters.length === 0) return '…';
  return characters.length > EXCERPT_LENGTH
    ? `${characters.slice(0, EXCERPT_LENGTH).join('')}…`
    : characters.join('');
}
