import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  type Evidence,
  type Payment,
  type RefundCase,
  RefundCaseService,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { stateOf as disputeStateOf, endOf } from '../disputes/dispute.components.ts';
import { evidencePages, evidenceRegions } from '../evidence/evidence.page.ts';
import { evidenceTexts } from '../evidence/evidence.texts.ts';
import { readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { MAX_PAGE_SIZE } from '../merchant-clients.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { dataTable, link, moment } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { liveRegions } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { filterParameter } from '../shell/query-form.ts';
import { canCall, type Page, textsFor, type View } from '../shell/view.ts';
import { eventTable } from '../webhooks/event-table.ts';
import { type DecisionDraft, decisionForms } from './decision-forms.ts';
import { lateDecisionText } from './late-decision.ts';
import { paymentTexts } from './payment.texts.ts';
import { paymentAmounts, readPayment } from './payment-amounts.ts';
import { blockerList, deadline, type StateName, stateBadge, stateOf } from './refund-case.components.ts';
import { refundCaseTexts } from './refund-case.texts.ts';
import { caseTimeline, facts, providerSide } from './refund-record.ts';
import { refundsTexts } from './refunds.texts.ts';

const MAX_EVENTS = 30;
const DEBITED: ReadonlySet<StateName> = new Set(['PROCESSING', 'SUCCEEDED', 'FAILED']);
const IN_REVIEW = new Set([RefundCaseStatus.MERCHANT_REVIEW, RefundCaseStatus.SERVICE_REVIEW]);

/** The notice after a decision that the case no longer awaited. */
export const LATE = 'late';

/** A refused form: the rejected decision, the fault of a file, or that the case did not await a decision. */
interface Refused {
  readonly isLate?: boolean;
  readonly decision?: DecisionDraft;
  readonly evidenceFault?: string;
}

/** A case with its evidence, disputes and events. */
interface CaseDetails {
  readonly refundCase: RefundCase;
  readonly evidence: readonly Evidence[];
  readonly disputes: readonly Dispute[];
  /** Lost disputes of other payments of its sale, while it awaits the balance: they may have left too little of the sale. */
  readonly lostElsewhere: readonly Dispute[];
  readonly payment: Payment;
  /** Newest first. */
  readonly events: readonly Event[];
  readonly names: SaleNames;
}

/** A refund case with its evidence, and the forms for the merchant's decision. */
export function refundCasePages(pages: Pages): void {
  const location = { path: '/refunds/:refundCaseId', section: 'refunds' } as const;
  const query = Type.Object({ notice: filterParameter });
  pages.page({ ...location, role: Role.VIEWER, query }, (view, { params, query: { notice } }) =>
    renderRefundCase(view, params.refundCaseId!, { isLate: notice === LATE }),
  );
  evidencePages(pages, {
    ...location,
    subjectOf: ({ refundCaseId }) => ({ refundCaseId: refundCaseId! }),
    render: (view, { refundCaseId }, evidenceFault) =>
      renderRefundCase(view, refundCaseId!, { evidenceFault }),
  });
}

/** Renders a case, with a form that was refused. */
export async function renderRefundCase(view: View, refundCaseId: string, refused?: Refused): Promise<Page> {
  const details = await readCase(view, refundCaseId);
  const t = textsFor(view, refundCaseTexts);
  const { refundCase, evidence: files } = details;
  const isLate = refused?.isLate && refundCase.status !== RefundCaseStatus.MERCHANT_REVIEW;
  const live = {
    summary: summary(view, details),
    facts: html`<h2>${t.details}</h2>${facts(view, refundCase, details.names)}`,
    decision: decision(view, refundCase, refused?.decision),
    ...evidenceRegions(view, {
      path: `/refunds/${refundCaseId}`,
      files,
      elsewhere: refundCase.evidenceCount - files.length,
      isOpen: IN_REVIEW.has(refundCase.status),
      fault: refused?.evidenceFault,
    }),
    record: record(view, details),
  };
  return {
    title: t.title(view.format.money(refundCase.amountMinor)),
    body: html`${breadcrumbs(view, 'refunds')}
${liveRegions(live)}`,
    live,
    notices: { approved: t.approved, contested: t.contested, evidence: textsFor(view, evidenceTexts).saved },
    ...(isLate && { warnings: { [LATE]: await lateDecisionText(view, refundCase) } }),
  };
}

async function readCase(view: View, id: string): Promise<CaseDetails> {
  const { refundCase } = await view.clients.refundCases.getRefundCase({ refundCaseId: id });
  const { paymentIntentId } = refundCase!;
  const [{ evidence }, { disputes }, lostElsewhere, payment, { events: published }, names] =
    await Promise.all([
      view.clients.refundCases.listEvidence({ refundCaseId: id }),
      view.clients.refundCases.listDisputes({ paymentIntentId, pageSize: MAX_PAGE_SIZE }),
      readLostElsewhere(view, refundCase!),
      readPayment(view, paymentIntentId),
      view.clients.events.listEvents({ objectId: id, pageSize: MAX_EVENTS }),
      readSaleNames(view, [refundCase!]),
    ]);
  return { refundCase: refundCase!, evidence, disputes, lostElsewhere, payment, events: published, names };
}

async function readLostElsewhere(
  view: View,
  { status, saleId, paymentIntentId }: RefundCase,
): Promise<Dispute[]> {
  if (status !== RefundCaseStatus.FUNDING_REQUIRED || saleId === undefined) return [];
  const { disputes } = await view.clients.refundCases.listDisputes({
    saleIds: [saleId],
    pageSize: MAX_PAGE_SIZE,
  });
  return disputes.filter(
    (dispute) => dispute.outcome === DisputeOutcome.LOST && dispute.paymentIntentId !== paymentIntentId,
  );
}

function summary(view: View, details: CaseDetails): Html {
  const { refundCase, disputes, lostElsewhere } = details;
  const t = textsFor(view, refundsTexts);
  const state = stateOf(refundCase);
  const awaiting = disputes.find((dispute) => disputeStateOf(dispute) === 'NEEDS_RESPONSE');
  const [next, nextLink] =
    state === 'SERVICE_REVIEW' && awaiting
      ? [t.nextDisputed, link(view, `/disputes/${awaiting.id}`, t.toDispute)]
      : [t.next[state], statusLink(view, state, details)];
  return html`<div class="cards">
<section class="card"><h2>${t.status}</h2><p>${stateBadge(view, refundCase)} <code>${state}</code></p><p>${next} ${nextLink}</p>${lostElsewhere.map(
    ({ id }) => html`<p>${link(view, `/disputes/${id}`, t.lostElsewhere)} ${t.lostElsewhereNext}</p>`,
  )}</section>
<section class="card"><h2>${t.deadline}</h2><p>${deadline(view, refundCase)}</p></section>
<section class="card"><h2>${t.blockers}</h2>${blockerList(view, refundCase)}</section>
</div>`;
}

/** A link to the money that the status is about; none for most. */
function statusLink(view: View, state: StateName, { events }: CaseDetails): Html {
  const t = textsFor(view, refundsTexts);
  if (state === 'FUNDING_REQUIRED') return link(view, '/funds', t.toBalance);
  // From the day of the debit on, because it may have been reversed later.
  const debit = events.findLast(({ type }) => type === 'refund.processing.v1')?.timestamp;
  if (!debit || !DEBITED.has(state)) return nothing;
  return link(view, `/funds/statement?from=${civilDateAt(timestampDate(debit))}`, t.toStatement);
}

function decision(view: View, refundCase: RefundCase, draft: DecisionDraft | undefined): Html {
  const t = textsFor(view, refundCaseTexts);
  if (refundCase.status !== RefundCaseStatus.MERCHANT_REVIEW) return nothing;
  return html`<section><h2>${t.decide}</h2><p class="hint">${t.decideHint}</p>
${canCall(view, RefundCaseService.method.decideRefundCase) ? decisionForms(view, refundCase, draft) : html`<p>${t.viewerHint}</p>`}</section>`;
}

function record(view: View, { refundCase, disputes, payment, events }: CaseDetails): Html {
  const t = textsFor(view, refundCaseTexts);
  return html`<h2>${textsFor(view, paymentTexts).title}</h2>${paymentAmounts(view, payment)}
<h2>${t.timeline}</h2>${caseTimeline(view, refundCase, events)}
<h2>${t.provider}</h2>${providerSide(view, refundCase)}
<h2>${t.disputes}</h2>${disputeTable(view, disputes)}
<h2>${t.events}</h2>${eventTable(view, events)}`;
}

function disputeTable(view: View, disputes: readonly Dispute[]): Html {
  const t = textsFor(view, refundCaseTexts);
  if (disputes.length === 0) return html`<p>${t.noDisputes}</p>`;
  const outcome = ({ closedAt, outcome }: Dispute) => {
    if (!closedAt) return t.outcomes.OPEN;
    return t.outcomes[endOf(outcome)];
  };
  return dataTable<Dispute>(
    t.disputesHint,
    [
      { label: t.dispute, cell: ({ id }) => link(view, `/disputes/${id}`, html`<code>${id}</code>`) },
      { label: t.opened, cell: ({ openedAt }) => moment(view, openedAt) },
      { label: t.closed, cell: ({ closedAt }) => moment(view, closedAt) },
      { label: t.outcome, cell: outcome },
    ],
    disputes,
    t.noDisputes,
  );
}
