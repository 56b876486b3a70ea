import { RefundCaseStatus } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../../services/platform/civil-date.ts';
import { enumName } from '../../../services/platform/enum-name.ts';
import type { DashboardClients } from '../dashboard-clients.ts';
import { monthOf, monthsFrom } from '../funds/months.ts';
import { refundsTexts } from '../refunds/refunds.texts.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { barChart } from './bar-chart.ts';
import { card, renderOrUnavailable } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

const MONTHS = 6;
const DAYS = 30;

/** The amounts to be released in each of the coming months. */
export async function releaseChartCard(view: View, { funds }: DashboardClients): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const months = monthsFrom(monthOf(civilDateAt(new Date())), MONTHS);
  const calendars = Promise.all(
    months.map((month) => funds.getReleaseCalendar({ ...view.tenant, month }, view.call)),
  );
  const content = await renderOrUnavailable(view, calendars, (read) => {
    const bars = read.map(({ month, days }) => {
      const size = days.reduce((sum, { scheduledAmountMinor }) => sum + scheduledAmountMinor, 0n);
      return { label: view.format.shortMonth(month), size, text: view.format.compactMoney(size) };
    });
    if (bars.every(({ size }) => size === 0n)) return html`<p>${t.noReleasesByMonth}</p>`;
    const heads = [t.chart.month, t.scheduled] as const;
    return barChart(view, { name: 'release-chart', title: t.releasesByMonth, heads, bars });
  });
  const link = html`<a href="${pathTo(view, '/funds/projection')}">${t.toCalendar}</a>`;
  return card('release-months', t.releasesByMonth, content, link);
}

/** The number of recently requested refunds in each state. */
export async function refundChartCard(view: View, { refundCases }: DashboardClients): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const { states } = textsFor(view, refundsTexts);
  const fromDate = addDays(civilDateAt(new Date()), -DAYS);
  const request = { ...view.tenant, fromDate, pageSize: 1, includeTotals: true };
  const content = await renderOrUnavailable(
    view,
    refundCases.listRefundCases(request, view.call),
    ({ totals }) => {
      if (totals.length === 0) return html`<p>${t.noRecentRefunds}</p>`;
      const bars = totals.map(({ status, count }) => ({
        label: states[enumName(RefundCaseStatus, status)],
        size: count,
        text: view.format.number(count),
      }));
      const heads = [t.chart.state, t.chart.count] as const;
      return barChart(view, { name: 'refund-chart', title: t.refundsByState, heads, bars });
    },
  );
  const link = html`<a href="${pathTo(view, '/refunds?status=')}">${t.toRefunds}</a>`;
  return card('refund-states', t.refundsByState, content, link);
}
