import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { GetDeductionResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type Dispute,
  DisputeReason,
  RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { evidencePages, evidenceRegions } from '../evidence/evidence.page.ts';
import { evidenceTexts } from '../evidence/evidence.texts.ts';
import { identifiedSale, readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { copyable, details, field, form, moment, timeline } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { liveRegions } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { filterParameter } from '../shell/query-form.ts';
import { canCall, type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { eventTable } from '../webhooks/event-table.ts';
import { deductedCard, deductionOf } from './deducted-card.ts';
import { disputedAmount, dueDate, reasonText, stateBadge, stateOf } from './dispute.components.ts';
import { disputesTexts } from './disputes.texts.ts';
import { lateResponseText } from './late-response.ts';

const MAX_EVENTS = 30;

/** A rejected response, and why it was rejected. */
export interface ResponseDraft {
  readonly text: string;
  readonly fault: string;
}

/** The notice after a response that the dispute no longer awaited. */
export const LATE = 'late';

/** A refused form: the rejected response, the fault of a file, or that the dispute did not await a response. */
interface Refused {
  readonly isLate?: boolean;
  readonly response?: ResponseDraft;
  readonly evidenceFault?: string;
}

/** A dispute with its evidence, and the form for the merchant's response. */
export function disputePages(pages: Pages): void {
  const location = { path: '/disputes/:disputeId', section: 'disputes' } as const;
  const query = Type.Object({ notice: filterParameter });
  pages.page({ ...location, role: Role.VIEWER, query }, (view, { params, query: { notice } }) =>
    renderDispute(view, params.disputeId!, { isLate: notice === LATE }),
  );
  evidencePages(pages, {
    ...location,
    subjectOf: ({ disputeId }) => ({ disputeId: disputeId! }),
    render: (view, { disputeId }, evidenceFault) => renderDispute(view, disputeId!, { evidenceFault }),
  });
}

/** Renders a dispute, with a form that was refused. */
export async function renderDispute(view: View, disputeId: string, refused?: Refused): Promise<Page> {
  const [read, { evidence: files }, published] = await Promise.all([
    view.clients.refundCases.getDispute({ disputeId }),
    view.clients.refundCases.listEvidence({ disputeId }),
    view.clients.events.listEvents({ objectId: disputeId, pageSize: MAX_EVENTS }),
  ]);
  const dispute = read.dispute!;
  const isOpen = stateOf(dispute) === 'NEEDS_RESPONSE';
  const isLate = refused?.isLate && !isOpen;
  const [names, deduction] = await Promise.all([readSaleNames(view, [dispute]), deductionOf(view, dispute)]);
  const t = textsFor(view, disputesTexts);
  const live = {
    summary: summary(view, dispute, deduction),
    ...evidenceRegions(view, {
      path: `/disputes/${disputeId}`,
      files,
      elsewhere: 0,
      isOpen,
      fault: refused?.evidenceFault,
    }),
    response: response(view, dispute, refused?.response),
    record: record(view, dispute, names, published.events),
  };
  return {
    title: t.disputeTitle(reasonText(view, dispute)),
    body: html`${breadcrumbs(view, 'disputes')}
${liveRegions(live)}`,
    live,
    notices: { responded: t.responded, evidence: textsFor(view, evidenceTexts).saved },
    ...(isLate && { warnings: { [LATE]: await lateResponseText(view, dispute) } }),
  };
}

function summary(view: View, dispute: Dispute, deduction: GetDeductionResponse | undefined): Html {
  const t = textsFor(view, disputesTexts);
  return html`<div class="cards">
<section class="card"><h2>${t.status}</h2><p>${stateBadge(view, dispute)}</p><p>${nextText(view, dispute)}</p></section>
${dispute.closedAt ? nothing : html`<section class="card"><h2>${t.dueDate}</h2><p>${dueDate(view, dispute)}</p></section>`}
<section class="card"><h2>${t.amount}</h2><p class="figure">${disputedAmount(view, dispute)}</p>${heldText(view, dispute)}</section>
${deductedCard(view, dispute, deduction)}</div>`;
}

function nextText(view: View, dispute: Dispute): string {
  const t = textsFor(view, disputesTexts);
  const state = stateOf(dispute);
  return state === 'WON' && dispute.saleId === undefined ? t.wonWithoutSale : t.next[state];
}

/** Whether an open dispute holds funds: only those of a sale that it names. */
function heldText(view: View, { saleId, closedAt }: Dispute): Html {
  if (closedAt) return nothing;
  const t = textsFor(view, disputesTexts);
  return html`<p class="soft">${saleId === undefined ? t.notHeld : t.held}</p>`;
}

function response(view: View, dispute: Dispute, draft: ResponseDraft | undefined): Html {
  const t = textsFor(view, disputesTexts);
  if (dispute.response) {
    const { text, respondedAt } = dispute.response;
    return html`<section><h2>${t.times.responded}</h2><p class="soft">${moment(view, respondedAt)}</p>
<p class="words">${text}</p></section>`;
  }
  if (stateOf(dispute) !== 'NEEDS_RESPONSE') return nothing;
  return html`<section><h2>${t.respond}</h2><p class="hint">${t.respondHint}</p>
${canCall(view, RefundCaseService.method.respondToDispute) ? responseForm(view, dispute, draft) : html`<p>${t.viewerHint}</p>`}</section>`;
}

function responseForm(view: View, { id }: Dispute, draft: ResponseDraft | undefined): Html {
  const t = textsFor(view, disputesTexts);
  const fields = field(
    { name: 'response', label: t.response, hint: t.responseHint, fault: draft?.fault },
    (attributes) => html`<textarea ${attributes} rows="8" required>${draft?.text ?? ''}</textarea>`,
  );
  return form(view, { action: `/disputes/${id}/respond`, submit: t.send, fields });
}

function record(view: View, dispute: Dispute, names: SaleNames, events: readonly Event[]): Html {
  const t = textsFor(view, disputesTexts);
  const { id, paymentIntentId, saleId, reason } = dispute;
  const cases = pathTo(view, `/refunds?status=&payment=${paymentIntentId}`);
  return html`<h2>${t.details}</h2>${details([
    [t.id, copyable(view, id)],
    [t.reason, html`${reasonText(view, dispute)} <code>${DisputeReason[reason]}</code>`],
    [t.paymentId, html`${copyable(view, paymentIntentId)} <a href="${cases}">${t.cases}</a>`],
    [t.sale, identifiedSale(view, saleId, names)],
  ])}
<h2>${t.timeline}</h2>${disputeTimeline(view, dispute)}
<h2>${t.events}</h2>${eventTable(view, events)}`;
}

function disputeTimeline(view: View, { openedAt, dueAt, response, closedAt, reversedAt }: Dispute): Html {
  const t = textsFor(view, disputesTexts);
  const now = Date.now();
  const isOverdue = dueAt !== undefined && timestampMs(dueAt) <= now;
  const times: readonly (readonly [keyof typeof t.times, Timestamp | undefined])[] = [
    ['opened', openedAt],
    ['responded', response?.respondedAt],
    ['submitted', response?.submittedAt],
    // A due date that was met is no longer relevant.
    [isOverdue ? 'overdue' : 'due', response || closedAt ? undefined : dueAt],
    ['closed', closedAt],
    ['reversed', reversedAt],
  ];
  const known = times.flatMap(([name, at]) => (at ? [{ name, at }] : []));
  return timeline(
    known.map(({ name, at }) => ({
      state: name === 'overdue' ? 'failed' : timestampMs(at) > now ? 'waiting' : 'done',
      content: html`<strong>${t.times[name]}</strong> ${moment(view, at)}`,
    })),
  );
}
