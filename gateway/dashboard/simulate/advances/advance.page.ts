import { Type } from 'typebox';
import type { AdvanceRequest } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { statusBadge } from '../../advances/advance-status.ts';
import { advancesTexts } from '../../advances/advances.texts.ts';
import { details, inputField } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { reasonMissing, stepsPage } from '../steps-page.ts';
import { advanceStepTexts } from './advance-steps.texts.ts';
import { ADVANCE_STEPS, type AdvanceStep, isBackdated, stateOf } from './advance-steps.ts';

const StepForm = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2_000 })) });

/** An advance request with every step that is possible now. */
export function simulatedAdvancePage(pages: Pages): void {
  stepsPage(pages, {
    basePath: '/simulate/advances',
    parameter: 'advanceRequestId',
    texts: advanceStepTexts,
    steps: ADVANCE_STEPS,
    created: 'advance',
    form: StepForm,
    read: readRequest,
    renderState: stateCard,
    possibleSteps: (request) => (settlesLater(request) ? [] : stepsFrom(request)),
    noStepsText: (view, request) => {
      const t = textsFor(view, advanceStepTexts);
      return settlesLater(request) ? t.settlesLater : t.nothing;
    },
    renderFields: reasonField,
    perform: async (step, { view, id: advanceRequestId, key, form }) => {
      const reason = form.reason?.trim() ?? '';
      if (step.hasReason && reason === '') throw reasonMissing();
      const request = await readRequest(view, advanceRequestId);
      const write = { idempotencyKey: key, advanceRequestId };
      await step.act({ view, write, request, reason });
    },
  });
}

/** Whether the next step depends on dates that are still to come. */
const settlesLater = (request: AdvanceRequest) => stateOf(request) === 'RELEASED' && !isBackdated(request);

const stepsFrom = (request: AdvanceRequest) =>
  ADVANCE_STEPS.filter(({ from }) => from.includes(stateOf(request)));

async function readRequest(view: View, id: string): Promise<AdvanceRequest> {
  return (await view.clients.advances.getAdvanceRequest({ advanceRequestId: id })).advanceRequest!;
}

function stateCard(view: View, request: AdvanceRequest): Html {
  const t = textsFor(view, advanceStepTexts);
  const words = textsFor(view, advancesTexts);
  return html`<section class="card"><p>${statusBadge(view, request)} <code>${stateOf(request)}</code></p>
${details([
  [words.amount, view.format.money(request.amountMinor)],
  [words.fee, view.format.money(request.feeAmountMinor)],
  [words.net, view.format.money(request.netAmountMinor)],
])}
<p><a href="${pathTo(view, `/advances/${request.id}`)}">${t.open}</a></p></section>`;
}

function reasonField(view: View, { hasReason }: AdvanceStep): Html {
  if (!hasReason) return nothing;
  const { reasonInitial } = textsFor(view, advanceStepTexts);
  const { reason: label } = textsFor(view, simulateTexts);
  return inputField({ name: 'reason', label }, reasonInitial, html`maxlength="2000" required`);
}
