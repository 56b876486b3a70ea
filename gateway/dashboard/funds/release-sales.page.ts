import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  FundsReleaseStatus,
  FundsService,
  type ReleaseSale,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { isCivilDate } from '../../../services/platform/civil-date.ts';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks, formatParameter } from '../exports/csv-links.ts';
import { RELEASE_SALE_COLUMNS } from '../exports/list-columns.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { dataTable, moment, pageParameter, pager } from '../shell/components.ts';
import { noSuchPage } from '../shell/failures.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { filterParameter } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { amountsOf, sumOf } from './amounts.ts';
import { monthOf } from './months.ts';
import { allocationColumns, amountCards, releaseStatus } from './release.components.ts';
import { installmentText } from './sale.components.ts';
import { namedSale, type ProductNames, readProductNames } from './sale-names.ts';
import { salesTexts } from './sales.texts.ts';

const PAGE_SIZE = 50;
const STATES = ['BLOCKED', 'RELEASED', 'SCHEDULED'] as const;

const csvQuery = Type.Object({ status: filterParameter, format: formatParameter });
const query = Type.Object({
  /** Absent or empty: the whole day. */
  status: filterParameter,
  page: pageParameter,
});

/** /funds/days/2026-11-21/sales: the sales behind a day, or behind its release of a status. */
export function releaseSalesPage(pages: Pages): void {
  const rpc = FundsService.method.exportReleaseSales;
  pages.download(
    { path: '/funds/days/:name/sales.csv', rpc, section: 'funds', query: csvQuery },
    async (view, { params, query }) => {
      const date = params.name ?? '';
      if (!isCivilDate(date)) throw noSuchPage();
      const request = { ...statusOf(query.status), date };
      return listDownload({
        name: `sales-of-${date}.csv`,
        columns: RELEASE_SALE_COLUMNS,
        format: query.format,
        stream: (options) => view.clients.funds.exportReleaseSales(request, options),
        rowsOf: ({ sales }) => sales,
      });
    },
  );
  const options = { path: '/funds/days/:name/sales', role: Role.VIEWER, section: 'funds', query } as const;
  pages.page(options, async (view, { params, query }) => {
    const date = params.name ?? '';
    if (!isCivilDate(date)) throw noSuchPage();
    const t = textsFor(view, salesTexts);
    const filter = statusOf(query.status);
    const { status } = filter;
    const page = { pageSize: PAGE_SIZE, pageToken: query.page ?? '' };
    const [{ releases }, { sales, nextPageToken }] = await Promise.all([
      view.clients.funds.listFundsReleases({ ...filter, fromDate: date, toDate: date }),
      view.clients.funds.listReleaseSales({ ...filter, ...page, date }),
    ]);
    const products = await readProductNames(
      view,
      sales.map(({ sale }) => sale!),
    );
    const day = view.format.date(date);
    const month = monthOf(date);
    return {
      title: t.ofDay(day),
      body: html`${breadcrumbs(view, 'funds', [`/funds?month=${month}`, view.format.month(month)], [`/funds/days/${date}`, t.day(day)])}
${status === undefined ? nothing : releases.map(({ blockedReasons }) => html`<p>${releaseStatus(view, status, blockedReasons)}</p>`)}
${amountCards(view, sumOf(releases.map(amountsOf)))}
${csvLinks(view, `/funds/days/${date}/sales.csv`, { status: query.status })}
${saleTable(view, sales, products)}
${pager(view, nextPageToken)}`,
    };
  });
}

/** The status to filter by; none for an unknown one. */
function statusOf(status: string | undefined): { readonly status?: FundsReleaseStatus } {
  const state = STATES.find((name) => name === status);
  return state ? { status: FundsReleaseStatus[state] } : {};
}

function saleTable(view: View, sales: readonly ReleaseSale[], products: ProductNames): Html {
  const t = textsFor(view, salesTexts);
  return dataTable<ReleaseSale>(
    t.ofDayHint,
    [
      { label: t.sale, isFreeText: true, cell: ({ sale }) => namedSale(view, sale!, products) },
      { label: t.captured, cell: ({ sale }) => moment(view, sale!.capturedAt) },
      { label: t.installment, cell: ({ sale, installment }) => installmentText(view, sale!, installment) },
      ...allocationColumns(view),
      { label: t.status, cell: (row) => statuses(view, row) },
    ],
    sales,
    t.noneOnDay,
  );
}

/** The statuses of the remaining amount: several when a portion is held. */
function statuses(view: View, row: ReleaseSale): Html {
  const { BLOCKED, RELEASED, SCHEDULED } = FundsReleaseStatus;
  const badges = [
    row.blockedAmountMinor > 0n ? releaseStatus(view, BLOCKED, row.blockedReasons) : nothing,
    row.releasedAmountMinor > 0n ? releaseStatus(view, RELEASED) : nothing,
    row.scheduledAmountMinor > 0n ? releaseStatus(view, SCHEDULED) : nothing,
  ];
  return html`${badges.map((each) => html`${each} `)}`;
}
