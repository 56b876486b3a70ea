import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type FundsRelease, FundsReleaseStatus } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { addDays, type CivilDate, isCivilDate, weekday } from '../../../services/platform/civil-date.ts';
import { enumName } from '../../../services/platform/enum-name.ts';
import { dataTable } from '../shell/components.ts';
import { noSuchPage } from '../shell/failures.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { amountsOf, sumOf } from './amounts.ts';
import { closingOf } from './closings.ts';
import { fundsTexts } from './funds.texts.ts';
import { monthOf } from './months.ts';
import { allocationColumns, amountCards, releaseStatus } from './release.components.ts';

/** /funds/days/2026-11-21: the releases of a day. */
export function dayPage(pages: Pages): void {
  pages.page({ path: '/funds/days/:name', role: Role.VIEWER, section: 'funds' }, async (view, { params }) => {
    const date = params.name ?? '';
    if (!isCivilDate(date)) throw noSuchPage();
    const t = textsFor(view, fundsTexts);
    const [{ releases }, { holidays }] = await Promise.all([
      view.clients.funds.listFundsReleases({ fromDate: date, toDate: date }),
      view.clients.funds.getReleaseCalendar({ month: monthOf(date) }),
    ]);
    const closing = closingOf(view, date, holidays);
    return {
      title: t.day.title(view.format.date(date)),
      body: html`${dayNavigation(view, date)}
<p class="soft">${t.weekdays[weekday(date)]!}</p>
${closing ? html`<p class="notice off">${t.day.closed(closing)}</p>` : nothing}
${amountCards(view, sumOf(releases.map(amountsOf)))}
${releaseTable(view, releases)}
${releases.length > 0 ? html`<p><a href="${pathTo(view, `/funds/days/${date}/sales`)}">${t.day.toSales}</a></p>` : nothing}`,
    };
  });
}

function dayNavigation(view: View, date: CivilDate): Html {
  const t = textsFor(view, fundsTexts);
  const link = (rel: 'prev' | 'next', to: string, text: string) =>
    isCivilDate(to) ? html`<a rel="${rel}" href="${pathTo(view, `/funds/days/${to}`)}">${text}</a>` : nothing;
  const month = monthOf(date);
  return html`<nav class="pager" aria-label="${t.day.navigation}">
<a href="${pathTo(view, `/funds?month=${month}`)}">${t.day.back(view.format.month(month))}</a>
${link('prev', addDays(date, -1), t.day.before)}
${link('next', addDays(date, 1), t.day.after)}
</nav>`;
}

function releaseTable(view: View, releases: readonly FundsRelease[]): Html {
  const t = textsFor(view, fundsTexts).day;
  return html`${dataTable<FundsRelease>(
    t.caption,
    [
      { label: t.status, cell: ({ status, blockedReasons }) => releaseStatus(view, status, blockedReasons) },
      { label: t.sales, isNumber: true, cell: (row) => salesLink(view, row) },
      ...allocationColumns(view),
    ],
    releases,
    t.empty,
  )}${releases.length > 0 ? html`<p class="hint">${t.captionHint}</p>` : nothing}`;
}

/** The number of a release's sales, which leads to them. */
function salesLink(view: View, { date, status, salesCount }: FundsRelease): Html {
  const count = view.format.number(salesCount);
  const sales = pathTo(view, `/funds/days/${date}/sales?status=${enumName(FundsReleaseStatus, status)}`);
  const { sales: label } = textsFor(view, fundsTexts).day;
  return html`<a href="${sales}" title="${label}">${count}</a>`;
}
