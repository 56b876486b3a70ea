import { Type } from 'typebox';
import type { AdvanceRequest } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ProductStatus } from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { GetBalanceResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { EventType } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { statusBadge } from '../advances/advance-status.ts';
import { advancesTexts } from '../advances/advances.texts.ts';
import { fundsTexts } from '../funds/funds.texts.ts';
import { MAX_PAGE_SIZE } from '../merchant-clients.ts';
import { caseColumns, STATES } from '../refunds/refund-case.components.ts';
import {
  amountColumn,
  dataTable,
  details,
  docsLink,
  field,
  form,
  link,
  moment,
  select,
} from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { simulatedEventTexts } from './events.texts.ts';
import { OUTCOME_QUERY, outcome } from './outcome.ts';
import { panelTexts } from './panel.texts.ts';
import { refundForm } from './refunds/refund-form.ts';
import { saleForm } from './sales/sale-form.ts';
import { IN_SANDBOX } from './sandbox.ts';
import { simulateTexts } from './simulate.texts.ts';
import { type Draft, idOf } from './typed-values.ts';

const RECENT = 5;
interface Drafts {
  readonly sale?: Draft;
  readonly refund?: Draft;
}

/** The panel: everything that can be simulated, with recent cases and advances. */
export function panelPage(pages: Pages): void {
  pages.page({ ...IN_SANDBOX, path: '/simulate', query: Type.Object(OUTCOME_QUERY) }, (view, { query }) =>
    renderPanel(view, {}, query.request),
  );
}

/** Renders the panel; with drafts, rejected forms and their faults. */
export async function renderPanel(view: View, drafts: Drafts, requestId?: string): Promise<Page> {
  const t = textsFor(view, panelTexts);
  const [{ products }, { eventTypes }, balance, { refundCases }, { advanceRequests }] = await Promise.all([
    view.clients.products.listProducts({ status: ProductStatus.ACTIVE, pageSize: MAX_PAGE_SIZE }),
    view.clients.events.listEventTypes({}),
    view.clients.funds.getBalance({}),
    view.clients.refundCases.listRefundCases({ pageSize: RECENT }),
    view.clients.advances.listAdvanceRequests({ pageSize: RECENT }),
  ]);
  const live = {
    outcome: await outcome(view, requestId),
    balance: balanceFigures(view, balance),
    cases: caseTable(view, refundCases),
    advances: advanceTable(view, advanceRequests),
  };
  const body = html`<p>${t.intro}</p>
${docsLink(view, 'sandbox', t.guide)}
${liveRegion('outcome', live.outcome)}
<div class="cards panel">${saleForm(view, products, drafts.sale)}
${refundForm(view, products, { draft: drafts.refund, ...saleOf(drafts.refund) })}
${fundsCard(view, liveRegion('balance', live.balance))}
${advancesCard(view)}
${eventsCard(view, eventTypes)}</div>
${reachCard(view)}
<h2>${t.recentCases}</h2>${liveRegion('cases', live.cases)}
<h2>${t.recentAdvances}</h2>${liveRegion('advances', live.advances)}`;
  const status = drafts.sale || drafts.refund ? 422 : 200;
  return { title: t.title, status, body, live, notices: textsFor(view, simulateTexts).done };
}

/** The sale that a rejected refund form belongs to. */
function saleOf(draft: Draft | undefined) {
  const saleId = idOf(draft?.values.sale_id);
  if (saleId === undefined) return {};
  const { paid_at: paidAt = '', refund_product: productId } = draft?.values ?? {};
  return { sale: { saleId, paidAmountMinor: undefined, paidAt, productId } };
}

function fundsCard(view: View, figures: Html): Html {
  const t = textsFor(view, panelTexts);
  return html`<section class="card"><h2>${t.funds}</h2>${figures}
<p class="hint">${t.releaseHint}</p>
${form(view, { action: '/simulate/release', submit: t.release })}</section>`;
}

function balanceFigures(view: View, balance: GetBalanceResponse): Html {
  const t = textsFor(view, panelTexts);
  const { balance: names } = textsFor(view, fundsTexts);
  return details([
    [t.balance, view.format.money(balance.availableAmountMinor)],
    [names.scheduled, view.format.money(balance.scheduledAmountMinor)],
    [names.blocked, view.format.money(balance.blockedAmountMinor)],
  ]);
}

function advancesCard(view: View): Html {
  const t = textsFor(view, panelTexts);
  return html`<section class="card"><h2>${t.advances}</h2><p class="hint">${t.advancesHint}</p>
<p><a href="${pathTo(view, '/advances/new')}">${t.newAdvance}</a></p>
<h3>${t.pastAdvance}</h3><p class="hint">${t.pastAdvanceHint}</p>
${form(view, { action: '/simulate/advances', submit: t.createPastAdvance })}</section>`;
}

/** Choosing a type leads to its example, where the event can be published. */
function eventsCard(view: View, types: readonly EventType[]): Html {
  const t = textsFor(view, panelTexts);
  const event = textsFor(view, simulatedEventTexts);
  const options = types.map(({ name }) => [name, name] as const);
  return html`<section class="card"><h2>${t.events}</h2><p class="hint">${t.eventsHint}</p>
<form method="get" action="${pathTo(view, '/simulate/events')}">
${field({ name: 'type', label: event.eventType }, select(options))}
<button class="plain">${event.choose}</button></form></section>`;
}

function reachCard(view: View): Html {
  const t = textsFor(view, panelTexts);
  const item = (name: (typeof STATES)[number]) =>
    html`<div><dt><code>${name}</code></dt><dd>${t.reachSteps[name]}</dd></div>`;
  return html`<details class="confirm reach"><summary>${t.reach}</summary><dl>${STATES.map(item)}</dl></details>`;
}

function caseTable(view: View, cases: readonly RefundCase[]): Html {
  const { recentHint } = textsFor(view, panelTexts);
  const columns = Object.values(caseColumns(view, '/simulate/refund-cases'));
  return dataTable(recentHint, columns, cases, textsFor(view, simulateTexts).noCases);
}

function advanceTable(view: View, requests: readonly AdvanceRequest[]): Html {
  const t = textsFor(view, panelTexts);
  const a = textsFor(view, advancesTexts);
  return dataTable<AdvanceRequest>(
    t.recentHint,
    [
      {
        label: t.advance,
        cell: ({ id }) => link(view, `/simulate/advances/${id}`, html`<code>${id}</code>`),
      },
      amountColumn(view, a.amount, ({ amountMinor }) => amountMinor),
      { label: a.status, cell: (request) => statusBadge(view, request) },
      { label: a.requestedAt, cell: ({ requestedAt }) => moment(view, requestedAt) },
    ],
    requests,
    t.noAdvances,
  );
}
