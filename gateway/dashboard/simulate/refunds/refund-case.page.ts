import { Type } from 'typebox';
import { RefundBlocker } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { blockerList, deadline, stateBadge, stateOf } from '../../refunds/refund-case.components.ts';
import { refundsTexts } from '../../refunds/refunds.texts.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { form, select } from '../../shell/components.ts';
import { Failure } from '../../shell/failures.ts';
import { type Html, html } from '../../shell/html.ts';
import { inEach } from '../../shell/language.ts';
import { liveRegion } from '../../shell/live.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { OUTCOME_QUERY, outcome } from '../outcome.ts';
import { redirectWithOutcome, type SandboxPages } from '../sandbox-pages.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { idOf } from '../typed-values.ts';
import { refundStepTexts } from './refund-steps.texts.ts';
import { type Choice, REFUND_STEPS, REVIEWERS, type RefundStep } from './refund-steps.ts';
import { MANUAL_BLOCKERS, type SimulatedCase } from './simulated-case.ts';

const MOST_DISPUTES = 20;
const PATH = '/simulate/refund-cases/:refundCaseId';

const choice = () => Type.Optional(Type.String({ maxLength: 2_000 }));
const StepForm = Type.Object({ reason: choice(), reviewer: choice(), blocker: choice(), dispute: choice() });

/** A refund case with everything that can happen to it now. */
export function simulatedCasePage(pages: SandboxPages, clients: DashboardClients): void {
  pages.page({ path: PATH, query: Type.Object(OUTCOME_QUERY) }, async (view, { params, query }) => {
    const t = textsFor(view, refundStepTexts);
    const simulated = await readSimulated(clients, view, params.refundCaseId!);
    const live = {
      outcome: await outcome(clients, view, query.request),
      state: stateCards(view, simulated),
      steps: stepForms(view, simulated),
    };
    const body = html`${breadcrumbs(view, 'simulate')}${liveRegion('outcome', live.outcome)}
${liveRegion('state', live.state)}
<h2>${t.possible}</h2>
${liveRegion('steps', live.steps)}`;
    const ofSteps = REFUND_STEPS.map(({ name }) => [name, `${t.steps[name][0]}: ${t.done}`]);
    const notices = { ...Object.fromEntries(ofSteps), refund: textsFor(view, simulateTexts).done.refund };
    return { title: t.title, body, live, notices };
  });
}

/** A form for each thing that can happen to a case. */
export function refundStepActions(pages: SandboxPages, clients: DashboardClients): void {
  for (const step of REFUND_STEPS) {
    pages.action(
      { path: `${PATH}/${step.name}`, form: StepForm },
      async (view, { params, form: values, key }) => {
        const refundCaseId = params.refundCaseId!;
        const reason = values.reason?.trim();
        if (step.choices.includes('reason') && !reason) throw missing();
        if (step.choices.includes('dispute') && !idOf(values.dispute)) throw Failure.of(400, 'badRequest');
        // Steps about a dispute name no case: this is where a case that there is not is told.
        await clients.refundCases.getRefundCase({ ...view.tenant, refundCaseId }, view.call);
        const write = { ...view.tenant, idempotencyKey: key, refundCaseId };
        await step.act({ clients, view, write, form: { ...values, ...(reason && { reason }) } });
        return redirectWithOutcome(view, `/simulate/refund-cases/${refundCaseId}`, step.name);
      },
    );
  }
}

const missing = () =>
  new Failure(
    422,
    inEach(refundStepTexts, (t) => t.reasonMissing),
  );

async function readSimulated(clients: DashboardClients, view: View, id: string): Promise<SimulatedCase> {
  const { tenant, call } = view;
  const { refundCase } = await clients.refundCases.getRefundCase({ ...tenant, refundCaseId: id }, call);
  const { paymentIntentId } = refundCase!;
  const asked = { ...tenant, paymentIntentId, pageSize: MOST_DISPUTES };
  const { disputes } = await clients.refundCases.listDisputes(asked, call);
  const openDisputes = disputes.filter(({ closedAt }) => !closedAt);
  return { refundCase: refundCase!, openDisputes };
}

function stateCards(view: View, { refundCase }: SimulatedCase): Html {
  const t = textsFor(view, refundStepTexts);
  const r = textsFor(view, refundsTexts);
  const state = stateOf(refundCase);
  const { id, amountMinor, saleId } = refundCase;
  return html`<div class="cards">
<section class="card"><h2>${r.status}</h2><p>${stateBadge(view, refundCase)} <code>${state}</code></p><p>${r.next[state]}</p></section>
<section class="card"><h2>${r.case}</h2><p class="figure">${view.format.money(amountMinor)}</p>
<p><a href="${pathTo(view, `/refunds/${id}`)}">${t.open}</a></p>
${saleId ? html`<p><a href="${pathTo(view, `/simulate/sales/${saleId}`)}">${t.sale}</a></p>` : ''}
<p>${r.deadline}: ${deadline(view, refundCase)}</p></section>
<section class="card"><h2>${r.blockers}</h2>${blockerList(view, refundCase)}</section>
</div>`;
}

function stepForms(view: View, simulated: SimulatedCase): Html {
  const t = textsFor(view, refundStepTexts);
  const possible = REFUND_STEPS.filter((step) => step.isPossible(simulated));
  if (possible.length === 0) return html`<p class="empty">${t.nothing}</p>`;
  return html`<div class="cards steps">${possible.map((step) => stepCard(view, step, simulated))}</div>`;
}

function stepCard(view: View, step: RefundStep, simulated: SimulatedCase): Html {
  const [label, hint] = textsFor(view, refundStepTexts).steps[step.name];
  const { id } = simulated.refundCase;
  const fields = html`${step.choices.map((choice) => choiceField(view, step, choice, simulated))}`;
  const action = `/simulate/refund-cases/${id}/${step.name}`;
  return html`<section class="card"><p class="hint">${hint}</p>
${form(view, { action, submit: label, tone: 'plain', fields })}</section>`;
}

function choiceField(view: View, { name: step }: RefundStep, choice: Choice, simulated: SimulatedCase): Html {
  const t = textsFor(view, refundStepTexts);
  const { blockerNames } = textsFor(view, refundsTexts);
  const { blockedBy } = simulated.refundCase;
  // The names of controls are their ids as well, and a page has each id once.
  const control = (name: string, label: string, draw: (attributes: Html) => Html) =>
    html`<div class="field"><label for="${step}-${name}">${label}</label>${draw(html`id="${step}-${name}" name="${name}"`)}</div>`;
  const blockersThat = (present: boolean) =>
    MANUAL_BLOCKERS.filter((blocker) => blockedBy.includes(RefundBlocker[blocker]) === present).map(
      (blocker) => [blocker, blockerNames[blocker]] as const,
    );
  switch (choice) {
    case 'reason':
      return control('reason', t.reason, (attributes) => {
        return html`<input ${attributes} value="${t.reasonInitial}" maxlength="2000" required>`;
      });
    case 'reviewer':
      return control(
        'reviewer',
        t.reviewer,
        select(
          REVIEWERS.map((name) => [name, t.reviewers[name]]),
          '',
        ),
      );
    case 'blocker':
      return control('blocker', t.blocker, select(blockersThat(false), ''));
    case 'present-blocker':
      return control('blocker', t.blocker, select(blockersThat(true), ''));
    case 'dispute':
      return control(
        'dispute',
        t.dispute,
        select(
          simulated.openDisputes.map(({ id }) => [id, id]),
          '',
        ),
      );
    default:
      return choice satisfies never;
  }
}
