import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { GetBalanceResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { amountCard, field, link, money, select } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { queryForm } from '../shell/query-form.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { amountsOf, sumOf } from './amounts.ts';
import { balanceOf } from './balance-cards.ts';
import { fundsTexts } from './funds.texts.ts';
import { monthOf, monthsFrom } from './months.ts';
import { PROJECTED_KINDS, type ProjectedMonth, projectedTotal, projectionChart } from './projection-chart.ts';

const PERIODS = ['6', '12', '24'];
const DEFAULT_PERIOD = '12';
const LARGE_MINOR = 100_000_000n;

const query = Type.Object({ months: Type.Optional(Type.Enum(['', ...PERIODS])) });

/** /funds/projection: the releases of the coming months as a chart and a table. */
export function projectionPage(pages: Pages): void {
  const options = { path: '/funds/projection', role: Role.VIEWER, section: 'funds', query } as const;
  pages.page(options, async (view, { query }) => {
    const t = textsFor(view, fundsTexts).projection;
    const period = query.months || DEFAULT_PERIOD;
    const months = monthsFrom(monthOf(civilDateAt(new Date())), Number(period));
    const [balance, ...calendars] = await Promise.all([
      balanceOf(view),
      ...months.map((month) => view.clients.funds.getReleaseCalendar({ month })),
    ]);
    const projected = calendars.map(({ month, days }) => ({ month, ...sumOf(days.map(amountsOf)) }));
    const isEmpty = projected.every((each) => projectedTotal(each) === 0n);
    return {
      title: t.title,
      body: html`<p><a href="${pathTo(view, '/funds')}">${t.back}</a></p>
<p class="soft">${t.hint}</p>
${headline(view, balance, projected)}
${periodForm(view, period)}
${
  isEmpty
    ? html`<p class="empty">${t.empty}</p>`
    : html`<div class="projection${hasLarge(projected) ? ' large' : ''}">${projectionChart(view, projected)}${table(view, projected)}</div>`
}
${beyond(view, balance, projected)}`,
    };
  });
}

/** What will be received and, apart from it, the blocked and advanced amounts of the chart. */
function headline(
  view: View,
  balance: GetBalanceResponse | undefined,
  months: readonly ProjectedMonth[],
): Html {
  const { projection: t, kinds } = textsFor(view, fundsTexts);
  const sum = sumOf(months);
  const toReceiveMinor = balance?.scheduledAmountMinor ?? sum.scheduled;
  return html`<div class="cards balance">
${amountCard(view, t.toReceive, toReceiveMinor, t.toReceiveHint)}
${sum.blocked > 0n ? amountCard(view, kinds.blocked, sum.blocked, t.blockedHint) : nothing}
${sum.advanced > 0n ? amountCard(view, kinds.advanced, sum.advanced, t.advancedHint) : nothing}
</div>`;
}

/** Whether the amounts need a full-width table. */
const hasLarge = (months: readonly ProjectedMonth[]) => projectedTotal(sumOf(months)) >= LARGE_MINOR;

function periodForm(view: View, period: string): Html {
  const t = textsFor(view, fundsTexts);
  const periods = PERIODS.map((months) => [months, t.projection.monthCount(months)] as const);
  return queryForm(view, {
    fields: field({ name: 'months', label: t.projection.months }, select(periods, period)),
    submit: t.show,
  });
}

function table(view: View, months: readonly ProjectedMonth[]): Html {
  const t = textsFor(view, fundsTexts);
  const sum = { month: '', ...sumOf(months) };
  const labels = [...PROJECTED_KINDS.map((kind) => t.kinds[kind]), t.projection.total];
  const cells = (month: ProjectedMonth) =>
    [...PROJECTED_KINDS.map((kind) => month[kind]), projectedTotal(month)].map(
      (amount, n) => html`<td class="number" data-label="${labels[n]!}">${money(view, amount)}</td>`,
    );
  const head = (content: Html | string) => html`<th scope="row">${content}</th>`;
  return html`<div class="table"><table><caption>${t.projection.caption}</caption>
<thead><tr><th scope="col">${t.projection.month}</th>${labels.map((label) => html`<th scope="col" class="number">${label}</th>`)}</tr></thead>
<tbody>${months.map((each) => {
    const month = link(view, `/funds?month=${each.month}`, view.format.month(each.month));
    return html`<tr>${head(month)}${cells(each)}</tr>`;
  })}</tbody>
<tfoot><tr>${head(t.projection.sum)}${cells(sum)}</tr></tfoot></table></div>`;
}

/** The amount scheduled outside the months shown. */
function beyond(
  view: View,
  balance: GetBalanceResponse | undefined,
  months: readonly ProjectedMonth[],
): Html {
  if (!balance) return nothing;
  const amountMinor = balance.scheduledAmountMinor - sumOf(months).scheduled;
  if (amountMinor <= 0n) return nothing;
  return html`<p>${textsFor(view, fundsTexts).projection.beyond(view.format.money(amountMinor))}</p>`;
}
