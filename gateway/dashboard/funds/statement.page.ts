import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type {
  Balances,
  ListMovementsResponse,
  MovementTotal,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { FundsService, MovementKind } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { enumName } from '../../../services/platform/enum-name.ts';
import { type Disputes, findDisputes } from '../disputes/find-disputes.ts';
import { csvDownload } from '../exports/csv-download.ts';
import { csvLinks } from '../exports/csv-links.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { amountColumn, dataTable, notice, pageParameter, pager } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { queryForm } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { DateRange, dateRangeParameters, fileParameters } from './date-range.ts';
import { fundsTexts } from './funds.texts.ts';
import { monthOf, monthShifted, type YearMonth } from './months.ts';
import { movementTable, possibleDisputes } from './movement.components.ts';
import { statementLines, totalMinor } from './statement.csv.ts';
import { statementTexts } from './statement.texts.ts';

const PAGE_SIZE = 50;

const Query = Type.Object({ ...dateRangeParameters, page: pageParameter });

/** /funds/statement: the movements of the account over a range of dates, and the same as CSV. */
export function statementPages(pages: Pages): void {
  const path = '/funds/statement';
  pages.page({ path, role: Role.VIEWER, section: 'funds', query: Query }, async (view, { query }) => {
    const t = textsFor(view, statementTexts);
    const range = DateRange.orCurrentMonth(view, query);
    const top = html`${breadcrumbs(view, 'funds')}${rangeForm(view, range)}`;
    if (range.hasFault) return { title: t.title, status: 422, body: top };
    const page = { pageSize: PAGE_SIZE, pageToken: query.page ?? '', includeTotals: true };
    const request = { ...range.request, ...page };
    const statement = await view.clients.funds.listMovements(request);
    const disputes = await findDisputes(view, possibleDisputes(statement.movements));
    return { title: t.title, body: html`${top}${statementBody(view, range, statement, disputes)}` };
  });
  const rpc = FundsService.method.exportMovements;
  const csv = { path: `${path}.csv`, rpc, section: 'funds', query: Type.Object(fileParameters) } as const;
  pages.download(csv, async (view, { query }) => {
    const range = DateRange.orCurrentMonth(view, query);
    const lines = () => statementLines(view, range, query.format ?? 'br');
    return csvDownload(range.fileName('statement'), lines);
  });
}

/** The form that chooses the period of a page, and links to the months before and after it. Says if it has not begun. */
export function rangeForm(view: View, range: DateRange): Html {
  const t = textsFor(view, statementTexts);
  const { hasFault } = range;
  const form = queryForm(view, {
    fields: range.fields(t),
    submit: t.show,
    more: hasFault ? nothing : monthLinks(view, range),
  });
  const isAhead = !hasFault && range.from > civilDateAt(new Date());
  return html`${form}${isAhead ? notice('off', t.ahead) : nothing}`;
}

function monthLinks(view: View, { from, to }: DateRange): Html {
  const [path] = view.url.split('?');
  const link = (month: YearMonth | undefined, textOf: (name: string) => string) => {
    // A range ends the day before the next month, which December 9999 does not have.
    if (month === undefined || monthShifted(month, 1) === undefined) return nothing;
    const query = new URLSearchParams(DateRange.ofMonth(view, month).query);
    return html`<a href="${path}?${query}">${textOf(view.format.month(month))}</a>`;
  };
  const before = link(monthShifted(monthOf(from || to), -1), (name) => `← ${name}`);
  const after = link(monthShifted(monthOf(to || from), 1), (name) => `${name} →`);
  return html`<nav aria-label="${textsFor(view, fundsTexts).monthNavigation}">${before} ${after}</nav>`;
}

function statementBody(
  view: View,
  range: DateRange,
  statement: ListMovementsResponse,
  disputes: Disputes,
): Html {
  const t = textsFor(view, statementTexts);
  return html`<p class="hint">${t.hint}</p>
${balancesTable(view, statement)}
<section aria-labelledby="movements"><h2 id="movements">${t.movements}</h2>
${csvLinks(view, '/funds/statement.csv', range.query)}
${movementTable(view, statement.movements, disputes)}
${pager(view, statement.nextPageToken)}</section>`;
}

type BalanceRow = { readonly name: string; readonly count?: bigint; readonly balances: Balances };

/** Opening balance, the totals by kind, and closing balance: each column adds up. */
export function balancesTable(
  view: View,
  {
    openingBalance,
    closingBalance,
    totals,
  }: Pick<ListMovementsResponse, 'openingBalance' | 'closingBalance' | 'totals'>,
): Html {
  const t = textsFor(view, statementTexts);
  const { balance: names } = textsFor(view, fundsTexts);
  const totalRow = ({ kind, count, change }: MovementTotal): BalanceRow => ({
    name: t.kinds[enumName(MovementKind, kind)],
    count,
    balances: change!,
  });
  const rows: BalanceRow[] = [
    { name: t.opening, balances: openingBalance! },
    ...totals.map(totalRow),
    { name: t.closing, balances: closingBalance! },
  ];
  return dataTable<BalanceRow>(
    t.balancesCaption,
    [
      { label: t.movement, cell: ({ name }) => name },
      {
        label: t.count,
        isNumber: true,
        cell: ({ count }) => (count === undefined ? '' : view.format.number(count)),
      },
      amountColumn(view, names.available, ({ balances }) => balances.availableAmountMinor),
      amountColumn(view, names.scheduled, ({ balances }) => balances.scheduledAmountMinor),
      amountColumn(view, names.blocked, ({ balances }) => balances.blockedAmountMinor),
      amountColumn(view, t.total, ({ balances }) => totalMinor(balances)),
    ],
    rows,
    t.none,
  );
}
