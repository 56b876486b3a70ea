import { type Static, Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { ADVANCE_COLUMNS } from '../exports/list-columns.ts';
import { DateRange, dateRangeParameters, fileParameters } from '../funds/date-range.ts';
import { dataTable, field, pageParameter, pager, select } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { filterParameter, queryForm, refusedFilters } from '../shell/query-form.ts';
import { canCall, pathTo, textsFor, type View } from '../shell/view.ts';
import { advanceColumns } from './advance-columns.ts';
import { statusNames } from './advance-status.ts';
import { advancesTexts } from './advances.texts.ts';

const PAGE_SIZE = 25;

const STATUSES = ['PENDING_REVIEW', 'APPROVED', 'RELEASED', 'SETTLED', 'REFUSED'] as const;

const query = Type.Object({ ...dateRangeParameters, status: filterParameter, page: pageParameter });
const csvQuery = Type.Object({ ...fileParameters, status: filterParameter });

/** The range filters by the date requested. */
interface Filters {
  readonly range: DateRange;
  readonly status: (typeof STATUSES)[number] | undefined;
}

/** /advances: the list of advance requests, newest first, and the same as a file. */
export function advanceListPages(pages: Pages): void {
  const options = { path: '/advances', role: Role.VIEWER, section: 'advances', query } as const;
  pages.page(options, async (view, { query }) => {
    const t = textsFor(view, advancesTexts);
    const filters = filtersOf(view, query);
    const form = filterForm(view, filters);
    if (filters.range.hasFault) return refusedFilters(t.title, form, t.none);
    const pageToken = query.page ?? '';
    const request = { ...requestOf(filters), pageSize: PAGE_SIZE, pageToken };
    const { advanceRequests, nextPageToken } = await view.clients.advances.listAdvanceRequests(request);
    const empty = emptyText(view, filters, pageToken);
    const requests = dataTable(t.list, advanceColumns(view), advanceRequests, empty);
    return {
      title: t.title,
      body: html`<p class="soft">${t.intro}</p>
${
  canCall(view, AdvanceService.method.quoteAdvance)
    ? html`<p><a class="button" href="${pathTo(view, '/advances/new')}">${t.newAdvance}</a></p>`
    : nothing
}
${form}
${csvLinks(view, '/advances.csv', { ...filters.range.query, status: filters.status })}
${liveRegion('requests', requests)}
${pager(view, nextPageToken)}`,
      live: { requests },
    };
  });
  const rpc = AdvanceService.method.exportAdvanceRequests;
  const file = { path: '/advances.csv', rpc, section: 'advances', query: csvQuery } as const;
  pages.download(file, async (view, { query }) => {
    const filters = filtersOf(view, query);
    return listDownload({
      name: filters.range.fileName('advances'),
      columns: ADVANCE_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.advances.exportAdvanceRequests(requestOf(filters), options),
      rowsOf: ({ advanceRequests }) => advanceRequests,
    });
  });
}

/** Ignores unknown values of a drop-down. */
const filtersOf = (view: View, { status, ...bounds }: Static<typeof csvQuery>): Filters => ({
  range: new DateRange(view, bounds),
  status: STATUSES.find((name) => name === status),
});

const requestOf = ({ range, status }: Filters) => ({
  ...range.request,
  ...(status && { status: AdvanceRequestStatus[status] }),
});

function emptyText(view: View, { range, status }: Filters, pageToken: string): string {
  const t = textsFor(view, advancesTexts);
  if (pageToken !== '') return t.emptyPage;
  return range.from !== '' || range.to !== '' || status ? t.none : t.empty;
}

function filterForm(view: View, { range, status }: Filters): Html {
  const t = textsFor(view, advancesTexts);
  const names = statusNames(view);
  const statuses = STATUSES.map((name) => [name, names[name]] as const);
  const fields = html`${field({ name: 'status', label: t.status }, select([['', t.anyStatus], ...statuses], status))}
${range.fields(t)}`;
  return queryForm(view, { fields, narrow: range.hasFault ? 'open' : 'collapsed' });
}
