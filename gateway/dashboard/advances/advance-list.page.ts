import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type AdvanceRequest, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { ADVANCE_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeOf, fileName, fileParameters, requireValidRange } from '../funds/date-range.ts';
import { amountColumn, dataTable, link, moment, pageParameter, pager } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { may, pathTo, textsFor, type View } from '../shell/view.ts';
import { statusBadge } from './advance-status.ts';
import { advancesTexts } from './advances.texts.ts';

const PAGE_SIZE = 25;

const query = Type.Object({ page: pageParameter });
/** Of requests made in the range. */
const csvQuery = Type.Object(fileParameters);

/** /advances: the list of advance requests. */
export function advanceListPage(pages: Pages): void {
  const options = { path: '/advances', role: Role.VIEWER, section: 'advances', query } as const;
  pages.page(options, async (view, { query }) => {
    const t = textsFor(view, advancesTexts);
    const pageToken = query.page ?? '';
    const request = { pageSize: PAGE_SIZE, pageToken };
    const { advanceRequests, nextPageToken } = await view.clients.advances.listAdvanceRequests(request);
    const requests = requestTable(view, advanceRequests, pageToken === '' ? t.empty : t.emptyPage);
    return {
      title: t.title,
      body: html`<p class="soft">${t.intro}</p>
${
  may(view, AdvanceService.method.quoteAdvance)
    ? html`<p><a class="button" href="${pathTo(view, '/advances/new')}">${t.newAdvance}</a></p>`
    : nothing
}
${csvLinks(view, '/advances.csv', {})}
${liveRegion('requests', requests)}
${pager(view, nextPageToken)}`,
      live: { requests },
    };
  });
}

/** /advances.csv: advance requests as a file, newest first. */
export function advanceDownload(pages: Pages): void {
  const rpc = AdvanceService.method.exportAdvanceRequests;
  const options = { path: '/advances.csv', rpc, section: 'advances', query: csvQuery } as const;
  pages.download(options, async (view, { query }) => {
    const range = requireValidRange(view, query);
    return listDownload({
      name: fileName('advances', range),
      columns: ADVANCE_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.advances.exportAdvanceRequests(dateRangeOf(range), options),
      rowsOf: ({ advanceRequests }) => advanceRequests,
    });
  });
}

function requestTable(view: View, requests: readonly AdvanceRequest[], empty: string): Html {
  const t = textsFor(view, advancesTexts);
  return dataTable<AdvanceRequest>(
    t.list,
    [
      {
        label: t.requestedAt,
        cell: ({ id, requestedAt }) => link(view, `/advances/${id}`, moment(view, requestedAt)),
      },
      amountColumn(view, t.amount, (request) => request.amountMinor),
      amountColumn(view, t.fee, (request) => request.feeAmountMinor),
      amountColumn(view, t.netAmount, (request) => request.netAmountMinor),
      { label: t.status, cell: (request) => statusBadge(view, request) },
    ],
    requests,
    empty,
  );
}
