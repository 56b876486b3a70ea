import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  AdvanceRequestStatus,
  type AdvanceRequestTotal,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService, type FundsTotals } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  DisputeOutcome,
  type DisputeTotal,
  RefundCaseStatus,
  type RefundCaseTotal,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { statusNames } from '../advances/advance-status.ts';
import { disputesTexts } from '../disputes/disputes.texts.ts';
import { listDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { RELEASE_COLUMNS } from '../exports/list-columns.ts';
import { refundsTexts } from '../refunds/refunds.texts.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { amountColumn, countColumn, dataTable, link } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { DateRange, dateRangeParameters, fileParameters } from './date-range.ts';
import { fundsTexts } from './funds.texts.ts';
import { reconcileTexts } from './reconcile.texts.ts';
import { balancesTable, rangeForm } from './statement.page.ts';

/** /funds/reconcile: the totals of a period in the statement and in each list, and the releases of a period as a file. */
export function reconcilePages(pages: Pages): void {
  const query = Type.Object(dateRangeParameters);
  const options = { path: '/funds/reconcile', role: Role.VIEWER, section: 'funds', query } as const;
  pages.page(options, async (view, { query }) => {
    const t = textsFor(view, reconcileTexts);
    const range = DateRange.orCurrentMonth(view, query);
    const top = html`${breadcrumbs(view, 'funds')}<p class="soft">${t.intro}</p>${rangeForm(view, range)}`;
    if (range.hasFault) return { title: t.title, status: 422, body: top };
    return { title: t.title, body: html`${top}${await sections(view, range)}` };
  });
  const rpc = FundsService.method.exportFundsReleases;
  const file = {
    path: LISTS.releases.csv,
    rpc,
    section: 'funds',
    query: Type.Object(fileParameters),
  } as const;
  pages.download(file, async (view, { query }) => {
    const range = DateRange.orCurrentMonth(view, query);
    return listDownload({
      name: range.fileName('releases'),
      columns: RELEASE_COLUMNS,
      format: query.format,
      stream: (options) => view.clients.funds.exportFundsReleases(range.request, options),
      rowsOf: ({ releases }) => releases,
    });
  });
}

async function sections(view: View, range: DateRange) {
  const t = textsFor(view, reconcileTexts);
  const request = { ...range.request, pageSize: 1, includeTotals: true };
  const [statement, sales, releases, refunds, disputes, advanced] = await Promise.all([
    view.clients.funds.listMovements(request),
    view.clients.funds.listSales(request),
    view.clients.funds.listFundsReleases(request),
    view.clients.refundCases.listRefundCases(request),
    view.clients.refundCases.listDisputes(request),
    view.clients.advances.listAdvanceRequests(request),
  ]);
  const section = (list: keyof (typeof t)['lists'], table: Html) => {
    const { name, hint, pageOf, csv } = { ...t.lists[list], ...LISTS[list] };
    return html`<section aria-labelledby="${list}"><h2 id="${list}"><a href="${pathTo(view, pageOf(range))}">${name}</a></h2>
<p class="hint">${hint}</p>${csvLinks(view, csv, range.query)}${table}</section>`;
  };
  return html`${section('statement', balancesTable(view, statement))}
${section('sales', fundsTable(view, sales.totals!))}
${section('releases', fundsTable(view, releases.totals!))}
${section('refunds', refundTable(view, range, refunds.totals))}
${section('disputes', disputeTable(view, range, disputes.totals))}
${section('advances', advanceTable(view, range, advanced.totals))}`;
}

const during =
  (path: string, status?: string) =>
  (range: DateRange): string =>
    `${path}?${new URLSearchParams({ ...(status !== undefined && { status }), ...range.query })}`;

/** The page and the file of each list. The calendar shows a month. */
const LISTS = {
  statement: { pageOf: during('/funds/statement'), csv: '/funds/statement.csv' },
  sales: { pageOf: during('/funds/sales'), csv: '/funds/sales.csv' },
  releases: {
    pageOf: ({ from }: DateRange) => `/funds?month=${from.slice(0, 7)}`,
    csv: '/funds/releases.csv',
  },
  refunds: { pageOf: during('/refunds', ''), csv: '/refunds.csv' },
  disputes: { pageOf: during('/disputes', ''), csv: '/disputes.csv' },
  advances: { pageOf: during('/advances'), csv: '/advances.csv' },
} as const;

function fundsTable(view: View, totals: FundsTotals): Html {
  const t = textsFor(view, reconcileTexts);
  const { amounts, kinds } = textsFor(view, fundsTexts);
  return dataTable<FundsTotals>(
    t.totals,
    [
      countColumn(view, t.count, ({ count }) => count),
      amountColumn(view, amounts.gross, ({ grossAmountMinor }) => grossAmountMinor),
      amountColumn(view, amounts.fees, ({ feesAmountMinor }) => feesAmountMinor),
      amountColumn(view, amounts.net, ({ originalAmountMinor }) => originalAmountMinor),
      amountColumn(view, amounts.deducted, ({ deductionsAmountMinor }) => deductionsAmountMinor),
      amountColumn(view, amounts.advanced, ({ advancedAmountMinor }) => advancedAmountMinor),
      amountColumn(view, kinds.blocked, ({ blockedAmountMinor }) => blockedAmountMinor),
      amountColumn(view, kinds.released, ({ releasedAmountMinor }) => releasedAmountMinor),
      amountColumn(view, kinds.scheduled, ({ scheduledAmountMinor }) => scheduledAmountMinor),
    ],
    [totals],
    t.none,
  );
}

function refundTable(view: View, range: DateRange, totals: readonly RefundCaseTotal[]): Html {
  const { amount } = textsFor(view, reconcileTexts);
  const { states } = textsFor(view, refundsTexts);
  const linkTo = ({ status }: RefundCaseTotal) => {
    const name = enumName(RefundCaseStatus, status);
    return link(view, during('/refunds', name)(range), states[name]);
  };
  return statusTable(view, totals, linkTo, [[amount, ({ amountMinor }) => amountMinor]]);
}

function disputeTable(view: View, range: DateRange, totals: readonly DisputeTotal[]): Html {
  const { amount, deducted } = textsFor(view, reconcileTexts);
  const { filters } = textsFor(view, disputesTexts);
  const linkTo = ({ outcome }: DisputeTotal) => {
    const name = outcome === DisputeOutcome.UNSPECIFIED ? 'OPEN' : enumName(DisputeOutcome, outcome);
    return link(view, during('/disputes', name)(range), filters[name]);
  };
  return statusTable(view, totals, linkTo, [
    [amount, ({ amountMinor }) => amountMinor],
    [deducted, ({ deductedAmountMinor }) => deductedAmountMinor],
  ]);
}

function advanceTable(view: View, range: DateRange, totals: readonly AdvanceRequestTotal[]): Html {
  const { amount, fee, net } = textsFor(view, reconcileTexts);
  const statuses = statusNames(view);
  const linkTo = ({ status }: AdvanceRequestTotal) => {
    const name = enumName(AdvanceRequestStatus, status);
    return link(view, during('/advances', name)(range), statuses[name]);
  };
  return statusTable(view, totals, linkTo, [
    [amount, ({ amountMinor }) => amountMinor],
    [fee, ({ feeAmountMinor }) => feeAmountMinor],
    [net, ({ netAmountMinor }) => netAmountMinor],
  ]);
}

interface StatusRow {
  readonly status: Html | string;
  readonly count: bigint;
  readonly amountsMinor: readonly bigint[];
}

/** The totals of a list by status, each with a link to what has it, and their sum. */
function statusTable<Total extends { readonly count: bigint }>(
  view: View,
  totals: readonly Total[],
  linkTo: (total: Total) => Html,
  amounts: readonly (readonly [label: string, amountMinorOf: (total: Total) => bigint])[],
): Html {
  const t = textsFor(view, reconcileTexts);
  const sum = (numberOf: (total: Total) => bigint) => totals.reduce((all, each) => all + numberOf(each), 0n);
  const rows: StatusRow[] = totals.map((total) => ({
    status: linkTo(total),
    count: total.count,
    amountsMinor: amounts.map(([, amountMinorOf]) => amountMinorOf(total)),
  }));
  if (rows.length > 1) {
    const amountsMinor = amounts.map(([, amountMinorOf]) => sum(amountMinorOf));
    rows.push({ status: t.total, count: sum(({ count }) => count), amountsMinor });
  }
  return dataTable<StatusRow>(
    t.byStatus,
    [
      { label: t.status, cell: ({ status }) => status },
      countColumn(view, t.count, ({ count }) => count),
      ...amounts.map(([label], index) =>
        amountColumn<StatusRow>(view, label, ({ amountsMinor }) => amountsMinor[index]!),
      ),
    ],
    rows,
    t.none,
  );
}
