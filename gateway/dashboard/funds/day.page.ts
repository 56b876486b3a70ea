import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  BlockReason,
  type FundsRelease,
  FundsReleaseStatus,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { addDays, type CivilDate, isCivilDate, weekday } from '../../../services/platform/civil-date.ts';
import { enumName } from '../../../services/platform/enum-name.ts';
import { amountColumn, badge, dataTable, money } from '../shell/components.ts';
import { noSuchPage } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { amountsOf, presentKinds, sumOf } from './amounts.ts';
import { closingOf } from './closings.ts';
import { fundsTexts } from './funds.texts.ts';
import { monthOf } from './months.ts';

/** A day has at most one row per status. */
const MAX_ROWS = 100;

/** /funds/days/2026-11-21: the releases of a day. */
export function dayPage({ pages, clients }: FeatureDependencies): void {
  pages.page({ path: '/funds/days/:name', role: Role.VIEWER, section: 'funds' }, async (view, { params }) => {
    const date = params.name ?? '';
    if (!isCivilDate(date)) throw noSuchPage();
    const t = textsFor(view, fundsTexts);
    const [{ releases }, { holidays }] = await Promise.all([
      clients.funds.listFundsReleases(
        { ...view.tenant, fromDate: date, toDate: date, pageSize: MAX_ROWS },
        view.call,
      ),
      clients.funds.getReleaseCalendar({ ...view.tenant, month: monthOf(date) }, view.call),
    ]);
    const closing = closingOf(view, date, holidays);
    return {
      title: t.day.title(view.format.date(date)),
      body: html`${dayNavigation(view, date)}
<p class="soft">${t.weekdays[weekday(date)]!}</p>
${closing ? html`<p class="notice off">${t.day.closed(closing)}</p>` : nothing}
${sums(view, releases)}
${releaseTable(view, releases)}`,
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

function sums(view: View, releases: readonly FundsRelease[]): Html {
  const t = textsFor(view, fundsTexts);
  const amounts = sumOf(releases.map(amountsOf));
  return html`<div class="cards">${presentKinds(amounts).map(
    (kind) =>
      html`<div class="card"><p class="soft">${t.kinds[kind]}</p><p class="figure">${money(view, amounts[kind])}</p></div>`,
  )}</div>`;
}

function releaseTable(view: View, releases: readonly FundsRelease[]): Html {
  const t = textsFor(view, fundsTexts).day;
  const left = (row: FundsRelease) =>
    row.blockedAmountMinor + row.releasedAmountMinor + row.scheduledAmountMinor;
  return html`${dataTable<FundsRelease>(
    t.caption,
    [
      { label: t.status, cell: (row) => status(view, row) },
      { label: t.sales, isNumber: true, cell: ({ salesCount }) => view.format.number(salesCount) },
      amountColumn(view, t.gross, (row) => row.grossAllocatedAmountMinor),
      amountColumn(view, t.fees, (row) => row.feesAllocatedAmountMinor),
      amountColumn(view, t.net, (row) => row.originalAmountMinor),
      amountColumn(view, t.deducted, (row) => row.deductionsAmountMinor),
      amountColumn(view, t.advanced, (row) => row.advancedAmountMinor),
      amountColumn(view, t.left, left),
    ],
    releases,
    t.empty,
  )}${releases.length > 0 ? html`<p class="hint">${t.captionHint}</p>` : nothing}`;
}

function status(view: View, { status, blockedReasons }: FundsRelease): Html {
  const t = textsFor(view, fundsTexts);
  const reasons = blockedReasons.map((reason) => t.reasons[enumName(BlockReason, reason)]);
  switch (status) {
    case FundsReleaseStatus.RELEASED:
      return badge('good', t.kinds.released);
    case FundsReleaseStatus.SCHEDULED:
      return badge('busy', t.kinds.scheduled);
    case FundsReleaseStatus.BLOCKED:
      return html`${badge('bad', t.kinds.blocked)} <span class="reasons">${reasons.join(', ')}</span>`;
    case FundsReleaseStatus.UNSPECIFIED:
      return nothing;
    default:
      return status satisfies never;
  }
}
