import type { ReleaseCalendarDay } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import type { DashboardClients } from '../dashboard-clients.ts';
import { monthOf, monthsFrom } from '../funds/months.ts';
import { money } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { card, renderOrUnavailable } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

const MONTHS = 2;
const MAX_DAYS = 5;

/** The next release dates, of this month and the next. */
export async function releasesCard(view: View, clients: DashboardClients): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const content = await renderOrUnavailable(view, nextReleases(view, clients), (days) =>
    days.length === 0
      ? html`<p>${t.noReleases}</p>`
      : html`<ul class="lines">${days.map((day) => line(view, day))}</ul>`,
  );
  const link = html`<a href="${pathTo(view, '/funds/projection')}">${t.toCalendar}</a>`;
  return card('releases', t.releases, content, link);
}

async function nextReleases(view: View, { funds }: DashboardClients): Promise<ReleaseCalendarDay[]> {
  const today = civilDateAt(new Date());
  const months = await Promise.all(
    monthsFrom(monthOf(today), MONTHS).map((month) =>
      funds.getReleaseCalendar({ ...view.tenant, month }, view.call),
    ),
  );
  return months
    .flatMap(({ days }) => days)
    .filter(({ date, scheduledAmountMinor }) => date >= today && scheduledAmountMinor > 0n)
    .slice(0, MAX_DAYS);
}

const line = (view: View, { date, scheduledAmountMinor }: ReleaseCalendarDay) =>
  html`<li><a href="${pathTo(view, `/funds/days/${date}`)}">${view.format.date(date)}</a> <span class="number">${money(view, scheduledAmountMinor)}</span></li>`;
