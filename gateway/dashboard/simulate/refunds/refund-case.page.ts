import { Type } from 'typebox';
import {
  type Dispute,
  DisputeOutcome,
  RefundBlocker,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { blockerList, deadline, stateBadge, stateOf } from '../../refunds/refund-case.components.ts';
import { refundsTexts } from '../../refunds/refunds.texts.ts';
import { field, select } from '../../shell/components.ts';
import { Failure } from '../../shell/failures.ts';
import { type Html, html } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { reasonMissing, stepsPage } from '../steps-page.ts';
import { idOf } from '../typed-values.ts';
import { refundStepTexts } from './refund-steps.texts.ts';
import { type Choice, REFUND_STEPS, REVIEWERS, type RefundStep } from './refund-steps.ts';
import { disputesToSubmit, MANUAL_BLOCKERS, type SimulatedCase } from './simulated-case.ts';

const MAX_DISPUTES = 20;

const choice = () => Type.Optional(Type.String({ maxLength: 2_000 }));
const StepForm = Type.Object({ reason: choice(), reviewer: choice(), blocker: choice(), dispute: choice() });

/** A refund case with every step that is possible now. */
export function simulatedCasePage(pages: Pages): void {
  stepsPage(pages, {
    basePath: '/simulate/refund-cases',
    parameter: 'refundCaseId',
    texts: refundStepTexts,
    steps: REFUND_STEPS,
    created: 'refund',
    form: StepForm,
    read: readSimulated,
    renderState: stateCards,
    possibleSteps: (simulated) => REFUND_STEPS.filter((step) => step.isPossible(simulated)),
    noStepsText: (view) => textsFor(view, refundStepTexts).nothing,
    renderFields: (view, step, simulated) =>
      html`${step.choices?.map((choice) => choiceField(view, step, choice, simulated))}`,
    perform: async (step, { view, id: refundCaseId, key, form }) => {
      const reason = form.reason?.trim();
      if (step.choices?.includes('reason') && !reason) throw reasonMissing();
      if (namesDispute(step) && !idOf(form.dispute)) throw Failure.of(400, 'badRequest');
      // Steps about a dispute do not name the case: reading it first answers 404 for a case that does not exist.
      await view.clients.refundCases.getRefundCase({ refundCaseId });
      const write = { idempotencyKey: key, refundCaseId };
      await step.act({ view, write, form: { ...form, ...(reason && { reason }) } });
    },
  });
}

const DISPUTE_CHOICES: ReadonlySet<Choice> = new Set(['dispute', 'responded-dispute', 'lost-dispute']);
const namesDispute = ({ choices = [] }: RefundStep) => choices.some((choice) => DISPUTE_CHOICES.has(choice));

async function readSimulated(view: View, id: string): Promise<SimulatedCase> {
  const { refundCase } = await view.clients.refundCases.getRefundCase({ refundCaseId: id });
  const { paymentIntentId } = refundCase!;
  const request = { paymentIntentId, pageSize: MAX_DISPUTES };
  const { disputes } = await view.clients.refundCases.listDisputes(request);
  const openDisputes = disputes.filter(({ closedAt }) => !closedAt);
  const lostDisputes = disputes.filter(({ outcome }) => outcome === DisputeOutcome.LOST);
  return { refundCase: refundCase!, openDisputes, lostDisputes };
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

function choiceField(view: View, { name: step }: RefundStep, choice: Choice, simulated: SimulatedCase): Html {
  const t = textsFor(view, refundStepTexts);
  const { blockerNames } = textsFor(view, refundsTexts);
  const { blockedBy } = simulated.refundCase;
  // Names repeat across the steps, so ids include the step.
  const control = (name: string, label: string, draw: (attributes: Html) => Html) =>
    field({ name, id: `${step}-${name}`, label }, draw);
  const blockersThat = (present: boolean) =>
    MANUAL_BLOCKERS.filter((blocker) => blockedBy.includes(RefundBlocker[blocker]) === present).map(
      (blocker) => [blocker, blockerNames[blocker]] as const,
    );
  const oneOf = (disputes: readonly Dispute[]) =>
    control('dispute', t.dispute, select(disputes.map(({ id }) => [id, id])));
  switch (choice) {
    case 'reason':
      return control('reason', textsFor(view, simulateTexts).reason, (attributes) => {
        return html`<input ${attributes} value="${t.reasonInitial}" maxlength="2000" required>`;
      });
    case 'reviewer':
      return control('reviewer', t.reviewer, select(REVIEWERS.map((name) => [name, t.reviewers[name]])));
    case 'blocker':
      return control('blocker', t.blocker, select(blockersThat(false)));
    case 'present-blocker':
      return control('blocker', t.blocker, select(blockersThat(true)));
    case 'dispute':
      return oneOf(simulated.openDisputes);
    case 'responded-dispute':
      return oneOf(disputesToSubmit(simulated));
    case 'lost-dispute':
      return oneOf(simulated.lostDisputes);
    default:
      return choice satisfies never;
  }
}
