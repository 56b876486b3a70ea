import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Type } from 'typebox';
import { ProductStatus } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { Dispute, RefundCase } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type DisputeState, endOf, stateOf } from '../../disputes/dispute.components.ts';
import { salesTexts } from '../../funds/sales.texts.ts';
import { MAX_PAGE_SIZE } from '../../merchant-clients.ts';
import { caseColumns } from '../../refunds/refund-case.components.ts';
import { refundCaseTexts } from '../../refunds/refund-case.texts.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { copyable, dataTable, details, field, form, money, select } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import type { Pages } from '../../shell/pages.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { OUTCOME_QUERY, outcome } from '../outcome.ts';
import { refundForm } from '../refunds/refund-form.ts';
import { IN_SANDBOX } from '../sandbox.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { paymentOf } from '../simulated-facts.ts';
import { BLOCK_REASONS, type DisputeStep, OUTCOMES } from './sale.actions.ts';
import { saleTexts } from './sale.texts.ts';

const MAX_RELATED = 20;
const Query = Type.Object(OUTCOME_QUERY);

/** A simulated sale with its possible next steps. */
export function simulatedSalePage(pages: Pages): void {
  const options = { ...IN_SANDBOX, path: '/simulate/sales/:saleId', query: Query } as const;
  pages.page(options, async (view, { params, query }) => {
    const t = textsFor(view, saleTexts);
    const words = textsFor(view, salesTexts);
    const saleId = params.saleId!;
    const ofPayment = { paymentIntentId: paymentOf(saleId), pageSize: MAX_RELATED };
    const [{ sale: read }, { refundCases }, { disputes }, { products }] = await Promise.all([
      view.clients.funds.getSale({ saleId }),
      view.clients.refundCases.listRefundCases(ofPayment),
      view.clients.refundCases.listDisputes(ofPayment),
      view.clients.products.listProducts({ status: ProductStatus.ACTIVE, pageSize: MAX_PAGE_SIZE }),
    ]);
    const live = {
      outcome: await outcome(view, query.request),
      cases: caseTable(view, refundCases),
    };
    const { grossAmountMinor: paidAmountMinor, capturedAt, productId } = read!;
    const sale = { saleId, paidAmountMinor, paidAt: timestampDate(capturedAt!).toISOString(), productId };
    const funds = pathTo(view, `/funds/sales/${saleId}`);
    const facts = details([
      [t.paid, money(view, paidAmountMinor)],
      [words.id, html`${copyable(view, saleId)} <a href="${funds}">${t.funds}</a>`],
      [t.paymentId, copyable(view, ofPayment.paymentIntentId)],
    ]);
    const body = html`${breadcrumbs(view, 'simulate')}${liveRegion('outcome', live.outcome)}
${facts}
<div class="cards panel">${refundForm(view, products, { sale })}
${blockCard(view, saleId)}
<section class="card"><h2>${words.disputes}</h2>${disputeList(view, saleId, disputes)}
<p class="hint">${t.openDisputeHint}</p>
${form(view, { action: `/simulate/sales/${saleId}/open-dispute`, submit: t.openDispute, tone: 'plain' })}</section>
</div>
<h2>${t.cases}</h2>${liveRegion('cases', live.cases)}`;
    return { title: t.title, body, live, notices: textsFor(view, simulateTexts).done };
  });
}

function blockCard(view: View, saleId: string): Html {
  const t = textsFor(view, saleTexts);
  const reasons = BLOCK_REASONS.map((name) => [name, t.blockReasons[name]] as const);
  const outcomes = OUTCOMES.map((name) => [name, t.outcomes[name]] as const);
  return html`<section class="card"><h2>${t.block}</h2>
${form(view, {
  action: `/simulate/sales/${saleId}/block`,
  submit: t.block,
  tone: 'plain',
  fields: field({ name: 'reason_to_block', label: t.blockReason }, select(reasons)),
})}
<h3>${t.unblock}</h3>
${form(view, {
  action: `/simulate/sales/${saleId}/unblock`,
  submit: t.unblock,
  tone: 'plain',
  fields: html`${field({ name: 'reason_to_unblock', label: t.blockReason }, select(reasons))}
${field({ name: 'outcome', label: t.unblockOutcome }, select(outcomes))}`,
})}</section>`;
}

/** The steps of a dispute that are possible in each of its states. */
const STEPS_OF: Readonly<Record<DisputeState, readonly DisputeStep[]>> = {
  NEEDS_RESPONSE: ['won', 'lost'],
  UNDER_REVIEW: ['submitted', 'won', 'lost'],
  AWAITING_DECISION: ['won', 'lost'],
  UNANSWERED: ['won', 'lost'],
  WON: [],
  LOST: ['reversed'],
  REVERSED: [],
};

function disputeList(view: View, saleId: string, disputes: readonly Dispute[]): Html {
  const t = textsFor(view, saleTexts);
  const { outcomes } = textsFor(view, refundCaseTexts);
  if (disputes.length === 0) return html`<p>${t.noDisputes}</p>`;
  const steps = (dispute: Dispute) => {
    const action = `/simulate/sales/${saleId}/disputes/${dispute.id}`;
    const step = (name: DisputeStep) =>
      form(view, { action: `${action}/${name}`, submit: t[name], tone: 'plain' });
    return html`<div class="row">${STEPS_OF[stateOf(dispute)].map(step)}</div>`;
  };
  const item = (dispute: Dispute) => {
    const { openedAt, closedAt, outcome } = dispute;
    const state = closedAt ? endOf(outcome) : 'OPEN';
    return html`<li>${t.opened(view.format.dateTime(openedAt))}: <strong>${outcomes[state]}</strong>
${steps(dispute)}</li>`;
  };
  return html`<ul class="disputes">${disputes.map(item)}</ul>`;
}

function caseTable(view: View, cases: readonly RefundCase[]): Html {
  const { id, amount, status } = caseColumns(view, '/simulate/refund-cases');
  const { casesHint } = textsFor(view, saleTexts);
  return dataTable(casesHint, [id, amount, status], cases, textsFor(view, simulateTexts).noCases);
}
