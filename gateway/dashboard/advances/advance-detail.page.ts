import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { DUE_REASON } from '../../../services/contracts/advances/due-reason.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { copyable, details, moment, type TimelineStep, timeline } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { openPayout, statusBadge } from './advance-status.ts';
import { advancesTexts } from './advances.texts.ts';
import { coveredTable } from './covered-table.ts';

/** /advances/<id>: an advance request, its progress and what it covers. */
export function advanceDetailPage(pages: Pages): void {
  const options = { path: '/advances/:advanceRequestId', role: Role.VIEWER, section: 'advances' } as const;
  pages.page(options, async (view, { params }) => {
    const { advanceRequestId = '' } = params;
    const { advanceRequest, installments } = await view.clients.advances.getAdvanceRequest({
      advanceRequestId,
    });
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

interface Step {
  readonly state: TimelineStep['state'];
  readonly name: string;
  readonly text: string;
  readonly at?: Timestamp | undefined;
  readonly reason?: string | undefined;
  /** The provider's id of the payout, by which the bank finds it. */
  readonly payoutId?: string | undefined;
}

/**
 * The steps of a request, including those still to come.
 * @param lastDate the last date that it covers, after which it is settled.
 */
function advanceTimeline(view: PlainView, request: AdvanceRequest, lastDate: string): Html {
  const t = textsFor(view, advancesTexts).detail;
  const content = ({ name, text, at, reason, payoutId }: Step) =>
    html`<strong>${name}</strong>${at ? html` <span class="soft">${moment(view, at)}</span>` : nothing}
<p>${text}</p>${reason === undefined ? nothing : html`<p>${t.reason(reason)}</p>`}
${payoutId === undefined ? nothing : html`<p>${t.payoutId}: ${copyable(view, payoutId)}</p>`}`;
  return timeline(
    stepsOf(view, request, lastDate).map((step) => ({ state: step.state, content: content(step) })),
  );
}

/** The payout of a released advance. */
function paidStep(view: PlainView, request: AdvanceRequest): Step {
  const t = textsFor(view, advancesTexts).detail;
  const { payout, releasedAt } = request;
  const payoutId = payout?.providerPayoutId;
  const name = t.paidStep;
  const net = view.format.money(request.netAmountMinor);
  switch (openPayout(request)) {
    case 'PAYING':
      return { state: 'now', name, text: (payout ? t.paying : t.ordered)(net) };
    case 'RETURNED': {
      const text = t.returned(net);
      return { state: 'now', name, text, at: payout?.lastAnswerAt, reason: payout?.lastReason, payoutId };
    }
    case undefined:
      return { state: 'done', name, text: t.paidText(net), at: payout?.acceptedAt ?? releasedAt, payoutId };
  }
}

function stepsOf(view: PlainView, request: AdvanceRequest, lastDate: string): Step[] {
  const t = textsFor(view, advancesTexts).detail;
  const { status, requestedAt, reviewedAt, reviewReason } = request;
  const requested: Step = { state: 'done', name: t.requestedStep, text: t.requestedText, at: requestedAt };
  const reviewed = { at: reviewedAt, reason: reviewReason === DUE_REASON ? t.dueReason : reviewReason };
  const approved: Step = { state: 'done', name: t.approvedStep, text: t.approvedText, ...reviewed };
  const toPay: Step = { state: 'waiting', name: t.paidStep, text: t.paidWaiting };
  const paid = paidStep(view, request);
  const toSettle: Step = {
    state: 'waiting',
    name: t.settledStep,
    text: t.settledWaiting(view.format.date(lastDate)),
  };
  switch (status) {
    case AdvanceRequestStatus.PENDING_REVIEW:
      return [requested, { state: 'now', name: t.reviewStep, text: t.reviewWaiting }, toPay, toSettle];
    case AdvanceRequestStatus.APPROVED:
      return [requested, approved, { ...toPay, state: 'now', text: t.paidNext }, toSettle];
    case AdvanceRequestStatus.RELEASED:
      return [requested, approved, paid, paid.state === 'now' ? toSettle : { ...toSettle, state: 'now' }];
    case AdvanceRequestStatus.REFUSED:
      return [requested, { state: 'failed', name: t.refusedStep, text: t.refusedText, ...reviewed }];
    case AdvanceRequestStatus.SETTLED:
      return [requested, approved, paid, { state: 'done', name: t.settledStep, text: t.settledText }];
    case AdvanceRequestStatus.UNSPECIFIED:
      return [requested];
    default:
      return status satisfies never;
  }
}
