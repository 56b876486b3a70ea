import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type {
  Debt,
  GetReleaseCalendarResponse,
  ListDebtsResponse,
  ReleaseCalendarDay,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { type CivilDate, civilDateAt, weekday } from '../../../services/platform/civil-date.ts';
import { disputeLink } from '../disputes/dispute.components.ts';
import { type Disputes, findDisputes } from '../disputes/find-disputes.ts';
import {
  amountColumn,
  badge,
  dataTable,
  inputField,
  moment,
  money,
  NONE,
  pageParameter,
  pager,
} from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { filterParameter, queryForm } from '../shell/query-form.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { amountsOf, presentKinds, sumOf } from './amounts.ts';
import { balanceCards, balanceOf } from './balance-cards.ts';
import { closingOf } from './closings.ts';
import { fundsTexts } from './funds.texts.ts';
import { monthOf, monthShifted, parseMonth, weeksOf, type YearMonth } from './months.ts';
import { reasonOfDeduction } from './movement.components.ts';
import { reconcileTexts } from './reconcile.texts.ts';
import { saleIdLink } from './sale.components.ts';
import { statementTexts } from './statement.texts.ts';

const DEBTS_PER_PAGE = 20;

const query = Type.Object({
  month: filterParameter,
  /** The page token of the debts. */
  page: pageParameter,
});

/** /funds: the balance, a month of the release calendar, and the open debts. */
export function calendarPage(pages: Pages): void {
  pages.page({ path: '/funds', role: Role.VIEWER, section: 'funds', query }, async (view, { query }) => {
    const t = textsFor(view, fundsTexts);
    const today = civilDateAt(new Date());
    const typed = query.month || monthOf(today);
    const month = parseMonth(typed);
    const debtPage = { pageSize: DEBTS_PER_PAGE, pageToken: query.page ?? '' };
    const [balance, calendar, debts] = await Promise.all([
      balanceOf(view),
      view.clients.funds.getReleaseCalendar({ month: month ?? monthOf(today) }),
      view.clients.funds.listDebts(debtPage),
    ]);
    const disputes = await findDisputes(
      view,
      debts.debts.map(({ sourceId }) => sourceId),
    );
    return {
      title: t.title,
      ...(!month && { status: 422 }),
      body: html`${balanceCards(view, balance)}
<p class="row"><a class="button plain" href="${pathTo(view, '/funds/projection')}">${t.toProjection}</a> <a class="button plain" href="${pathTo(view, '/funds/sales')}">${t.toSales}</a> <a class="button plain" href="${pathTo(view, '/funds/statement')}">${textsFor(view, statementTexts).link}</a> <a class="button plain" href="${pathTo(view, '/funds/reconcile')}">${textsFor(view, reconcileTexts).link}</a></p>
<section aria-labelledby="calendar"><h2 id="calendar">${t.calendar}</h2>
${monthNavigation(view, calendar.month, today, month ? undefined : typed)}
${monthTotals(view, calendar)}
${monthTable(view, calendar, today)}</section>
${debtsSection(view, debts, disputes, debtPage.pageToken !== '')}`,
    };
  });
}

/** Links to other months, and a form for any; `refused` is what was typed instead of a month. */
function monthNavigation(view: View, month: YearMonth, today: CivilDate, refused: string | undefined): Html {
  const t = textsFor(view, fundsTexts);
  const link = (rel: 'prev' | 'next', to: string | undefined) =>
    to === undefined
      ? nothing
      : html`<a rel="${rel}" href="${pathTo(view, `/funds?month=${to}`)}">${
          rel === 'prev' ? `← ${view.format.month(to)}` : `${view.format.month(to)} →`
        }</a>`;
  return html`<div class="month-bar">
<h3>${view.format.month(month)}</h3>
<nav aria-label="${t.monthNavigation}">
${link('prev', monthShifted(month, -1))} ${link('next', monthShifted(month, 1))}
${month === monthOf(today) ? nothing : html` <a href="${pathTo(view, '/funds')}">${t.currentMonth}</a>`}
</nav>
${queryForm(view, {
  fields: inputField(
    { name: 'month', label: t.month, fault: refused === undefined ? undefined : t.monthFault },
    refused ?? month,
    // Browsers without month inputs show a text field, whose title explains the pattern.
    html`type="month" pattern="[0-9]{4}-(0[1-9]|1[0-2])|(0[1-9]|1[0-2])/[0-9]{4}" title="${t.monthHint}"`,
  ),
  submit: t.show,
})}
</div>`;
}

function monthTotals(view: View, { days }: GetReleaseCalendarResponse): Html {
  const t = textsFor(view, fundsTexts);
  if (days.length === 0) return html`<p class="soft">${t.nothingInMonth}</p>`;
  const sums = sumOf(days.map(amountsOf));
  return html`<p class="soft">${t.monthTotals}</p><dl class="totals">${presentKinds(sums).map(
    (kind) => html`<div class="${kind}"><dt>${t.kinds[kind]}</dt><dd>${money(view, sums[kind])}</dd></div>`,
  )}</dl>`;
}

function debtsSection(
  view: View,
  { debts, nextPageToken }: ListDebtsResponse,
  disputes: Disputes,
  isLaterPage: boolean,
): Html {
  const t = textsFor(view, fundsTexts);
  const cause = ({ sourceId, reason }: Debt) => {
    const dispute = disputes.get(sourceId);
    const source = dispute ? disputeLink(view, dispute) : html`<code>${sourceId}</code>`;
    return html`${source}${reasonOfDeduction(reason)}`;
  };
  const table = dataTable<Debt>(
    t.debtsHint,
    [
      { label: t.debtFor, isFreeText: true, cell: cause },
      { label: t.debtSale, cell: ({ saleId }) => (saleId ? saleIdLink(view, saleId) : NONE) },
      amountColumn(view, t.debtAmount, ({ amountMinor }) => amountMinor),
      amountColumn(view, t.debtOpen, ({ openAmountMinor }) => openAmountMinor),
      {
        label: t.debtSince,
        cell: ({ occurredAt, raisedAt }) =>
          html`${moment(view, occurredAt)}${raisedAt ? html`<br><span class="soft">${t.debtRaised} ${moment(view, raisedAt)}</span>` : nothing}`,
      },
    ],
    debts,
    isLaterPage ? t.noMoreDebts : t.noDebts,
  );
  return html`<section class="debts" aria-labelledby="debts"><h2 id="debts">${t.debts}</h2>
${table}
${pager(view, nextPageToken)}</section>`;
}

/** A month as a table of weeks; a list of days on narrow screens. */
function monthTable(view: View, calendar: GetReleaseCalendarResponse, today: CivilDate): Html {
  const t = textsFor(view, fundsTexts);
  const cell = (date: CivilDate | undefined) =>
    date === undefined ? html`<td class="outside"></td>` : dayCell(view, calendar, date, today);
  return html`<table class="month"><caption>${t.caption(view.format.month(calendar.month))}</caption>
<thead><tr>${t.weekdays.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${weeksOf(calendar.month).map((week) => html`<tr>${week.map(cell)}</tr>`)}</tbody></table>`;
}

function dayCell(
  view: View,
  { days, holidays }: GetReleaseCalendarResponse,
  date: CivilDate,
  today: CivilDate,
): Html {
  const t = textsFor(view, fundsTexts);
  const day = days.find((other) => other.date === date);
  const closing = closingOf(view, date, holidays);
  const isToday = date === today;
  const classes = ['day', closing && 'closed', isToday && 'today', day?.hasBlockedFunds && 'held'];
  return html`<td class="${classes.filter(Boolean).join(' ')}" data-label="${t.weekdays[weekday(date)]!}">
<p class="date"><a href="${pathTo(view, `/funds/days/${date}`)}" aria-label="${view.format.date(date)}"><time datetime="${date}">${Number(date.slice(-2))}</time></a>${
    isToday ? html` ${badge('good', t.today)}` : nothing
  }</p>
${closing ? html`<p class="closing">${closing}</p>` : nothing}${day ? lines(view, day) : nothing}</td>`;
}

function lines(view: View, day: ReleaseCalendarDay): Html {
  const t = textsFor(view, fundsTexts);
  const amounts = amountsOf(day);
  const line = (kind: keyof typeof t.kinds) =>
    html`<p class="amount ${kind}"><span>${t.kinds[kind]}</span> ${money(view, amounts[kind])}</p>`;
  return html`${presentKinds(amounts).map(line)}`;
}
