import type {
  GetReleaseCalendarResponse,
  ReleaseCalendarDay,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { type CivilDate, weekday } from '../../../services/platform/civil-date.ts';
import { badge, money } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { amountsOf, presentKinds } from './amounts.ts';
import { closingOf } from './closings.ts';
import { fundsTexts } from './funds.texts.ts';
import { weeksOf } from './months.ts';

/** A month as a table of weeks; a list of days on narrow screens. */
export function monthTable(view: View, calendar: GetReleaseCalendarResponse, today: CivilDate): Html {
  const t = textsFor(view, fundsTexts);
  const days = new Map(calendar.days.map((day) => [day.date, day]));
  const cell = (date: CivilDate | undefined) =>
    date === undefined
      ? html`<td class="outside"></td>`
      : dayCell(view, calendar, date, days.get(date), today);
  return html`<table class="month"><caption>${t.caption(view.format.month(calendar.month))}</caption>
<thead><tr>${t.weekdays.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${weeksOf(calendar.month).map((week) => html`<tr>${week.map(cell)}</tr>`)}</tbody></table>`;
}

function dayCell(
  view: View,
  { holidays }: GetReleaseCalendarResponse,
  date: CivilDate,
  day: ReleaseCalendarDay | undefined,
  today: CivilDate,
): Html {
  const t = textsFor(view, fundsTexts);
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
