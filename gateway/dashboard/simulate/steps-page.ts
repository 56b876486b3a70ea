import { type Static, type TObject, Type } from 'typebox';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { form } from '../shell/components.ts';
import { Failure } from '../shell/failures.ts';
import { type Html, html } from '../shell/html.ts';
import type { Texts } from '../shell/language.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { OUTCOME_QUERY, outcome } from './outcome.ts';
import { IN_SANDBOX, redirectWithOutcome } from './sandbox.ts';
import { simulateTexts } from './simulate.texts.ts';

/** The texts of a steps page. A step has a button label and a hint. */
export interface StepsTexts {
  readonly title: string;
  readonly steps: Readonly<Record<string, readonly [label: string, hint: string]>>;
}

/** What happens when a step's form is submitted. */
interface StepSubmission<Form extends TObject> {
  readonly view: View;
  readonly id: string;
  /** The form's idempotency key. */
  readonly key: string;
  readonly form: Static<Form>;
}

/** A page of the panel about one object: its state, and a form for each step that is possible now. */
export interface StepsPageOptions<Subject, Step extends { readonly name: string }, Form extends TObject> {
  /** The path of the page, up to the object's id. */
  readonly basePath: string;
  /** The name of the id's path parameter. */
  readonly parameter: string;
  readonly texts: Texts<StepsTexts>;
  readonly steps: readonly Step[];
  /** The notice for an object that was just created. */
  readonly created: 'refund' | 'advance';
  readonly form: Form;
  read(view: View, id: string): Promise<Subject>;
  renderState(view: View, subject: Subject): Html;
  possibleSteps(subject: Subject): readonly Step[];
  /** The text in place of the forms when no step is possible. */
  noStepsText(view: View, subject: Subject): string;
  renderFields(view: View, step: Step, subject: Subject): Html;
  perform(step: Step, submission: StepSubmission<Form>): Promise<unknown>;
}

export function stepsPage<Subject, Step extends { readonly name: string }, Form extends TObject>(
  pages: Pages,
  options: StepsPageOptions<Subject, Step, Form>,
): void {
  const { basePath, parameter, texts, steps } = options;
  const path = `${basePath}/:${parameter}`;
  pages.page({ ...IN_SANDBOX, path, query: Type.Object(OUTCOME_QUERY) }, async (view, { params, query }) => {
    const t = textsFor(view, simulateTexts);
    const own = textsFor(view, texts);
    const id = params[parameter]!;
    const subject = await options.read(view, id);
    const live = {
      outcome: await outcome(view, query.request),
      state: options.renderState(view, subject),
      steps: stepForms(view, options, id, subject),
    };
    const body = html`${breadcrumbs(view, 'simulate')}${liveRegion('outcome', live.outcome)}
${liveRegion('state', live.state)}
<h2>${t.nextSteps}</h2>
${liveRegion('steps', live.steps)}`;
    const stepNotices = steps.map(({ name }) => [name, t.stepDone(own.steps[name]![0])]);
    const notices = { ...Object.fromEntries(stepNotices), [options.created]: t.done[options.created] };
    return { title: own.title, body, live, notices };
  });
  for (const step of steps) {
    pages.action(
      { ...IN_SANDBOX, path: `${path}/${step.name}`, form: options.form },
      async (view, { params, form, key }) => {
        const id = params[parameter]!;
        await options.perform(step, { view, id, key, form });
        return redirectWithOutcome(view, `${basePath}/${id}`, step.name);
      },
    );
  }
}

function stepForms<Subject, Step extends { readonly name: string }, Form extends TObject>(
  view: View,
  options: StepsPageOptions<Subject, Step, Form>,
  id: string,
  subject: Subject,
): Html {
  const { basePath, texts } = options;
  const possible = options.possibleSteps(subject);
  if (possible.length === 0) return html`<p class="empty">${options.noStepsText(view, subject)}</p>`;
  const card = (step: Step) => {
    const [label, hint] = textsFor(view, texts).steps[step.name]!;
    const fields = options.renderFields(view, step, subject);
    const action = `${basePath}/${id}/${step.name}`;
    return html`<section class="card"><p class="hint">${hint}</p>
${form(view, { action, submit: label, tone: 'plain', fields })}</section>`;
  };
  return html`<div class="cards steps">${possible.map(card)}</div>`;
}

/** The failure for a step submitted without its reason. */
export const reasonMissing = () => Failure.with(422, simulateTexts, (t) => t.faults.reasonMissing);
