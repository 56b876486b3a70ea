import type { GetBalanceResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type Dispute,
  DisputeOrder,
  type RefundCase,
  RefundCaseOrder,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../../services/platform/civil-date.ts';
import { enumName } from '../../../services/platform/enum-name.ts';
import { disputedAmount, dueDate, reasonText } from '../disputes/dispute.components.ts';
import { balanceOf } from '../funds/balance-cards.ts';
import { fundsTexts } from '../funds/funds.texts.ts';
import { monthOf, monthsFrom } from '../funds/months.ts';
import { blockers, deadline } from '../refunds/refund-case.components.ts';
import { refundsTexts } from '../refunds/refunds.texts.ts';
import { details, link, money } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { barChart } from './bar-chart.ts';
import { card } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

const MAX_LINES = 5;
const LISTED_MONTHS = 2;
const CHART_MONTHS = 6;
const CHART_DAYS = 30;

const lines = (items: readonly Html[], none: string) =>
  items.length === 0
    ? html`<p>${none}</p>`
    : html`<ul class="lines">${items.map((item) => html`<li>${item}</li>`)}</ul>`;

const amountLink = (view: View, { id, amountMinor }: RefundCase) =>
  link(view, `/refunds/${id}`, money(view, amountMinor));

/** The refund cases awaiting the merchant's decision, by deadline. */
export function refundsCard(view: View): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const request = { order: RefundCaseOrder.REVIEW_DEADLINE, pageSize: MAX_LINES };
  return card(view, {
    name: 'refunds',
    title: t.refunds,
    call: view.clients.refundCases.listRefundCases(request),
    render: ({ refundCases }) =>
      lines(
        refundCases.map((each) => html`${amountLink(view, each)} ${deadline(view, each)}`),
        t.noRefunds,
      ),
    links: (page) => link(view, '/refunds', page?.nextPageToken ? t.allRefunds : t.toRefunds),
  });
}

/** The approved refunds that something blocks, newest first; nothing without any. */
export async function blockedRefundsCard(view: View): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const call = view.clients.refundCases.listRefundCases({ blockedOnly: true, pageSize: MAX_LINES });
  const isEmpty = await call.then(
    ({ refundCases }) => refundCases.length === 0,
    () => false,
  );
  if (isEmpty) return nothing;
  return card(view, {
    name: 'blocked-refunds',
    title: t.blockedRefunds,
    call,
    render: ({ refundCases }) =>
      lines(
        refundCases.map((each) => html`${amountLink(view, each)} ${blockers(view, each)}`),
        '',
      ),
    links: (page) =>
      link(view, '/refunds?status=BLOCKED', page?.nextPageToken ? t.allBlockedRefunds : t.toBlockedRefunds),
  });
}

/** The disputes awaiting the merchant's response, by due date. */
export function disputesCard(view: View): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const request = { order: DisputeOrder.DUE_DATE, pageSize: MAX_LINES };
  return card(view, {
    name: 'disputes',
    title: t.disputes,
    call: view.clients.refundCases.listDisputes(request),
    render: ({ disputes }) => {
      const reasonOf = (each: Dispute) => link(view, `/disputes/${each.id}`, reasonText(view, each));
      return lines(
        disputes.map((each) => html`${reasonOf(each)} ${disputedAmount(view, each)} ${dueDate(view, each)}`),
        t.noDisputes,
      );
    },
    links: (page) => link(view, '/disputes', page?.nextPageToken ? t.allDisputes : t.toDisputes),
  });
}

/** The available balance and scheduled amounts. */
export function balanceCard(view: View): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  return card(view, {
    name: 'balance',
    title: t.balance,
    call: balanceOf(view),
    render: (balance) => (balance ? figures(view, balance) : html`<p>${t.tooLarge}</p>`),
    links: () => link(view, '/funds', t.toFunds),
  });
}

function figures(view: View, balance: GetBalanceResponse): Html {
  const t = textsFor(view, fundsTexts).balance;
  const { scheduledAmountMinor, blockedAmountMinor, openDebtsAmountMinor } = balance;
  return html`<p class="hint">${t.available}</p><p class="figure">${money(view, balance.availableAmountMinor)}</p>
${details([
  [t.scheduled, money(view, scheduledAmountMinor)],
  [t.blocked, blockedAmountMinor === 0n ? undefined : money(view, blockedAmountMinor)],
  [t.openDebts, openDebtsAmountMinor === 0n ? undefined : money(view, openDebtsAmountMinor)],
])}`;
}

/** The next release dates, of this month and the next. */
export function releasesCard(view: View, calendars: ReleaseCalendars): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const today = civilDateAt(new Date());
  return card(view, {
    name: 'releases',
    title: t.releases,
    call: Promise.all(calendars.slice(0, LISTED_MONTHS)),
    render: (months) => {
      const next = months
        .flatMap(({ days }) => days)
        .filter(({ date, scheduledAmountMinor }) => date >= today && scheduledAmountMinor > 0n);
      return lines(
        next.slice(0, MAX_LINES).map(({ date, scheduledAmountMinor }) => {
          const day = link(view, `/funds/days/${date}`, view.format.date(date));
          return html`${day} <span class="number">${money(view, scheduledAmountMinor)}</span>`;
        }),
        t.noReleases,
      );
    },
    links: () => link(view, '/funds/projection', t.toCalendar),
  });
}

/** The amounts to be released in each of the coming months. */
export function releaseChartCard(view: View, calendars: ReleaseCalendars): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  return card(view, {
    name: 'release-months',
    title: t.releasesByMonth,
    call: Promise.all(calendars),
    render: (months) => {
      const bars = months.map(({ month, days }) => {
        const size = days.reduce((sum, { scheduledAmountMinor }) => sum + scheduledAmountMinor, 0n);
        return { label: view.format.shortMonth(month), size, text: view.format.compactMoney(size) };
      });
      if (bars.every(({ size }) => size === 0n)) return html`<p>${t.noReleasesByMonth}</p>`;
      const heads = [t.chart.month, textsFor(view, fundsTexts).balance.scheduled] as const;
      return barChart(view, { name: 'release-chart', title: t.releasesByMonth, heads, bars });
    },
    links: () => link(view, '/funds/projection', t.toCalendar),
  });
}

/** The number of recently requested refunds in each state. */
export function refundChartCard(view: View): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const { states } = textsFor(view, refundsTexts);
  const fromDate = addDays(civilDateAt(new Date()), -CHART_DAYS);
  const request = { fromDate, pageSize: 1, includeTotals: true };
  return card(view, {
    name: 'refund-states',
    title: t.refundsByState,
    call: view.clients.refundCases.listRefundCases(request),
    render: ({ totals }) => {
      if (totals.length === 0) return html`<p>${t.noRecentRefunds}</p>`;
      const bars = totals.map(({ status, count }) => ({
        label: states[enumName(RefundCaseStatus, status)],
        size: count,
        text: view.format.number(count),
      }));
      const heads = [t.chart.state, t.chart.count] as const;
      return barChart(view, { name: 'refund-chart', title: t.refundsByState, heads, bars });
    },
    links: () => link(view, `/refunds?status=&from=${fromDate}`, t.toRefunds),
  });
}

/** The release calendars of the chart's months, this one first: two cards show them. */
export const releaseCalendars = (view: View) =>
  monthsFrom(monthOf(civilDateAt(new Date())), CHART_MONTHS).map((month) =>
    view.clients.funds.getReleaseCalendar({ month }),
  );

type ReleaseCalendars = ReturnType<typeof releaseCalendars>;
