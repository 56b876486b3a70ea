import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { details, moment } from '../shell/components.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import { textsFor } from '../shell/view.ts';
import { statusBadge } from './advance-status.ts';
import { advanceTimeline } from './advance-timeline.ts';
import { advancesTexts } from './advances.texts.ts';
import { coveredTable } from './covered-table.ts';

/** /advances/<id>: an advance request, its progress and what it covers. */
export function advanceDetailPage({ pages, clients }: FeatureDependencies): void {
  const options = { path: '/advances/:advanceRequestId', role: Role.VIEWER, section: 'advances' } as const;
  pages.page(options, async (view, { params }) => {
    const { advanceRequestId = '' } = params;
    const { advanceRequest, installments } = await clients.advances.getAdvanceRequest(
      { ...view.tenant, advanceRequestId },
      view.call,
    );
    const request = advanceRequest!;
    const t = textsFor(view, advancesTexts);
    const isRefused = request.status === AdvanceRequestStatus.REFUSED;
    const money = (amountMinor: bigint) => view.format.money(amountMinor);
    const progress = html`<p>${statusBadge(view, request)}</p>
<h2>${t.detail.steps}</h2>
${advanceTimeline(view, request, installments.at(-1)!.date)}`;
    return {
      title: t.detail.title(money(request.amountMinor)),
      notices: { requested: t.detail.requested, already: t.detail.already },
      body: html`${breadcrumbs(view, 'advances')}
${details([
  [t.amount, money(request.amountMinor)],
  [t.fee, money(request.feeAmountMinor)],
  [isRefused ? t.detail.netRefused : t.net, html`<strong>${money(request.netAmountMinor)}</strong>`],
  [t.requestedAt, moment(view, request.requestedAt)],
  [t.detail.id, html`<code>${request.id}</code>`],
  [t.detail.quoteId, html`<code>${request.quoteId}</code>`],
])}
${liveRegion('progress', progress)}
<h2>${t.quote.releases}</h2>
${coveredTable(view, installments)}`,
      live: { progress },
    };
  });
}
