import { Type } from 'typebox';
import type { AdvanceRequest } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { statusBadge } from '../../advances/advance-status.ts';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { details, field, form } from '../../shell/components.ts';
import { Failure } from '../../shell/failures.ts';
import { type Html, html } from '../../shell/html.ts';
import { inEach } from '../../shell/language.ts';
import { liveRegion } from '../../shell/live.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { OUTCOME_QUERY, outcome } from '../outcome.ts';
import { redirectWithOutcome, type SandboxPages } from '../sandbox-pages.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { advanceStepTexts } from './advance-steps.texts.ts';
import { ADVANCE_STEPS, type AdvanceStep, isOfPast, stateOf } from './advance-steps.ts';

const PATH = '/simulate/advances/:advanceRequestId';
const StepForm = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2_000 })) });

/** An advance request with what can happen to it now. */
export function simulatedAdvancePage(pages: SandboxPages, clients: DashboardClients): void {
  pages.page({ path: PATH, query: Type.Object(OUTCOME_QUERY) }, async (view, { params, query }) => {
    const t = textsFor(view, advanceStepTexts);
    const request = await readRequest(clients, view, params.advanceRequestId!);
    const live = {
      outcome: await outcome(clients, view, query.request),
      state: state(view, request),
      steps: steps(view, request),
    };
    const body = html`${breadcrumbs(view, 'simulate')}${liveRegion('outcome', live.outcome)}
${liveRegion('state', live.state)}
<h2>${t.possible}</h2>
${liveRegion('steps', live.steps)}`;
    const ofSteps = ADVANCE_STEPS.map(({ name }) => [name, `${t.steps[name][0]}: ${t.done}`]);
    const notices = { ...Object.fromEntries(ofSteps), advance: textsFor(view, simulateTexts).done.advance };
    return { title: t.title, body, live, notices };
  });
}

/** A form for each thing that can happen to a request. */
export function advanceStepActions(pages: SandboxPages, clients: DashboardClients): void {
  for (const step of ADVANCE_STEPS) {
    pages.action(
      { path: `${PATH}/${step.name}`, form: StepForm },
      async (view, { params, form: { reason = '' }, key }) => {
        const advanceRequestId = params.advanceRequestId!;
        if (step.hasReason && reason.trim() === '') throw missing();
        const request = await readRequest(clients, view, advanceRequestId);
        const write = { ...view.tenant, idempotencyKey: key, advanceRequestId };
        await step.act({ clients, view, write, request, reason: reason.trim() });
        return redirectWithOutcome(view, `/simulate/advances/${advanceRequestId}`, step.name);
      },
    );
  }
}

const missing = () =>
  new Failure(
    422,
    inEach(advanceStepTexts, (t) => t.reasonMissing),
  );

async function readRequest({ advances }: DashboardClients, view: View, id: string): Promise<AdvanceRequest> {
  const asked = { ...view.tenant, advanceRequestId: id };
  return (await advances.getAdvanceRequest(asked, view.call)).advanceRequest!;
}

function state(view: View, request: AdvanceRequest): Html {
  const t = textsFor(view, advanceStepTexts);
  return html`<section class="card"><p>${statusBadge(view, request.status)} <code>${stateOf(request)}</code></p>
${details([
  [t.amount, view.format.money(request.amountMinor)],
  [t.fee, view.format.money(request.feeAmountMinor)],
  [t.net, view.format.money(request.netAmountMinor)],
])}
<p><a href="${pathTo(view, `/advances/${request.id}`)}">${t.open}</a></p></section>`;
}

function steps(view: View, request: AdvanceRequest): Html {
  const t = textsFor(view, advanceStepTexts);
  const now = stateOf(request);
  if (now === 'RELEASED' && !isOfPast(request)) return html`<p class="empty">${t.settlesLater}</p>`;
  const possible = ADVANCE_STEPS.filter(({ from }) => from.includes(now));
  if (possible.length === 0) return html`<p class="empty">${t.nothing}</p>`;
  return html`<div class="cards steps">${possible.map((step) => stepCard(view, step, request))}</div>`;
}

function stepCard(view: View, { name, hasReason }: AdvanceStep, { id }: AdvanceRequest): Html {
  const t = textsFor(view, advanceStepTexts);
  const [submit, hint] = t.steps[name];
  const fields = hasReason
    ? field({ name: 'reason', label: t.reason }, (attributes) => {
        return html`<input ${attributes} value="${t.reasonInitial}" maxlength="2000" required>`;
      })
    : html``;
  return html`<section class="card"><p class="hint">${hint}</p>
${form(view, { action: `/simulate/advances/${id}/${name}`, submit, tone: 'plain', fields })}</section>`;
}
