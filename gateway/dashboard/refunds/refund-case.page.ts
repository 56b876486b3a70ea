import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  type RefundCase,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { dataTable, moment } from '../shell/components.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import { mayDevelop, type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { type DecisionDraft, decisionForms } from './decision-forms.ts';
import { blockerList, deadline, stateBadge, stateOf } from './refund-case.components.ts';
import { refundCaseTexts } from './refund-case.texts.ts';
import { facts, providerSide } from './refund-facts.ts';
import { caseTimeline } from './refund-timeline.ts';
import { refundsTexts } from './refunds.texts.ts';

const MAX_DISPUTES = 20;
const MAX_EVENTS = 30;

/** A case with its disputes and events. */
interface CaseDetails {
  readonly refundCase: RefundCase;
  readonly disputes: readonly Dispute[];
  /** Newest first. */
  readonly events: readonly Event[];
}

/** A refund case, with the forms for the merchant's decision. */
export function refundCasePage({ pages, clients }: FeatureDependencies): void {
  pages.page(
    { path: '/refunds/:refundCaseId', role: Role.VIEWER, section: 'refunds' },
    async (view, { params }) => renderRefundCase(clients, view, params.refundCaseId!),
  );
}

/** Renders a case; with a draft, the rejected decision. */
export async function renderRefundCase(
  clients: DashboardClients,
  view: View,
  refundCaseId: string,
  draft?: DecisionDraft,
): Promise<Page> {
  const details = await readCase(clients, view, refundCaseId);
  const t = textsFor(view, refundCaseTexts);
  const { refundCase } = details;
  const live = {
    summary: summary(view, refundCase),
    decision: decision(view, refundCase, draft),
    record: record(view, details),
  };
  return {
    title: t.title(view.format.money(refundCase.amountMinor)),
    body: html`${breadcrumbs(view, 'refunds')}
${liveRegion('summary', live.summary)}
${liveRegion('decision', live.decision)}
${liveRegion('record', live.record)}`,
    // A rejected form has the URL of its action, which has no stream.
    ...(draft === undefined && { live }),
    notices: { approved: t.approved, contested: t.contested },
  };
}

async function readCase(
  { refundCases, events }: DashboardClients,
  view: View,
  id: string,
): Promise<CaseDetails> {
  const { tenant, call } = view;
  const { refundCase } = await refundCases.getRefundCase({ ...tenant, refundCaseId: id }, call);
  const { paymentIntentId } = refundCase!;
  const [{ disputes }, { events: published }] = await Promise.all([
    refundCases.listDisputes({ ...tenant, paymentIntentId, pageSize: MAX_DISPUTES }, call),
    events.listEvents({ ...tenant, objectId: id, pageSize: MAX_EVENTS }, call),
  ]);
  return { refundCase: refundCase!, disputes, events: published };
}

function summary(view: View, refundCase: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  const state = stateOf(refundCase);
  return html`<div class="cards">
<section class="card"><h2>${t.status}</h2><p>${stateBadge(view, refundCase)} <code>${state}</code></p><p>${t.next[state]}</p></section>
<section class="card"><h2>${t.deadline}</h2><p>${deadline(view, refundCase)}</p></section>
<section class="card"><h2>${t.blockers}</h2>${blockerList(view, refundCase)}</section>
</div>`;
}

function decision(view: View, refundCase: RefundCase, draft: DecisionDraft | undefined): Html {
  const t = textsFor(view, refundCaseTexts);
  if (refundCase.status !== RefundCaseStatus.MERCHANT_REVIEW) return nothing;
  return html`<section><h2>${t.decide}</h2><p class="hint">${t.decideHint}</p>
${mayDevelop(view) ? decisionForms(view, refundCase, draft) : html`<p>${t.viewerHint}</p>`}</section>`;
}

function record(view: View, { refundCase, disputes, events }: CaseDetails): Html {
  const t = textsFor(view, refundCaseTexts);
  return html`<h2>${t.details}</h2>${facts(view, refundCase)}
<h2>${t.timeline}</h2>${caseTimeline(view, refundCase)}
<h2>${t.provider}</h2>${providerSide(view, refundCase)}
<h2>${t.disputes}</h2>${disputeTable(view, disputes)}
<h2>${t.events}</h2>${eventTable(view, events)}`;
}

function disputeTable(view: View, disputes: readonly Dispute[]): Html {
  const t = textsFor(view, refundCaseTexts);
  if (disputes.length === 0) return html`<p>${t.noDisputes}</p>`;
  const outcome = ({ closedAt, outcome }: Dispute) => {
    if (!closedAt) return t.outcomes.OPEN;
    return outcome === DisputeOutcome.LOST ? t.outcomes.LOST : t.outcomes.WON;
  };
  return dataTable<Dispute>(
    t.disputesHint,
    [
      { label: t.dispute, cell: ({ id }) => html`<code>${id}</code>` },
      { label: t.opened, cell: ({ openedAt }) => moment(view, openedAt) },
      { label: t.closed, cell: ({ closedAt }) => moment(view, closedAt) },
      { label: t.outcome, cell: outcome },
    ],
    disputes,
    t.noDisputes,
  );
}

function eventTable(view: View, events: readonly Event[]): Html {
  const t = textsFor(view, refundCaseTexts);
  if (events.length === 0) return html`<p>${t.noEvents}</p>`;
  const deliveries = ({ id }: Event) => pathTo(view, `/deliveries?event=${id}`);
  return dataTable<Event>(
    t.eventsHint,
    [
      { label: t.event, cell: ({ type }) => html`<code>${type}</code>` },
      { label: t.published, cell: ({ timestamp }) => moment(view, timestamp) },
      {
        label: t.deliveries,
        cell: (event) =>
          html`<a href="${deliveries(event)}">${t.seeDeliveries}<span class="visually-hidden"> ${event.type}</span></a>`,
      },
    ],
    events,
    t.noEvents,
  );
}
