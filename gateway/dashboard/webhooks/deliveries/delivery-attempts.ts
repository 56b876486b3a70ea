import type { Attempt } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { badge, moment, type Tone } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import { deliveryTexts } from './delivery.texts.ts';
import { answerWords, latencyWords } from './delivery-words.ts';

/** All attempts, newest first, with excerpts of the endpoint's responses, which are untrusted text. */
export function attemptsList(view: View, attempts: readonly Attempt[]): Html {
  const t = textsFor(view, deliveryTexts);
  if (attempts.length === 0) return html`<p class="empty">${t.noAttempts}</p>`;
  return html`<ol class="attempts" reversed>${attempts.toReversed().map((attempt, index) => attemptItem(view, attempt, index === 0))}</ol>`;
}

function attemptItem(view: View, attempt: Attempt, isNewest: boolean): Html {
  const t = textsFor(view, deliveryTexts);
  const { number, startedAt, httpStatus, responseExcerpt: excerpt } = attempt;
  const hint = hintOf(view, httpStatus);
  return html`<li class="card"><p><strong>${t.attempt(view.format.number(number))}</strong>
${badge(toneOf(attempt), answerWords(view, attempt))} <span class="soft">${latencyWords(view, attempt)}</span> ${moment(view, startedAt)}</p>
${hint ? html`<p class="hint">${hint}</p>` : nothing}
${
  excerpt
    ? html`<details data-key="${number}"${isNewest ? html` open` : nothing}><summary>${t.excerpt}</summary><pre>${excerpt}</pre></details>`
    : excerpt === ''
      ? html`<p class="soft">${t.emptyExcerpt}</p>`
      : nothing
}</li>`;
}

function toneOf({ httpStatus, failure }: Attempt): Tone {
  if (httpStatus === undefined && failure === undefined) return 'busy';
  return httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300 ? 'good' : 'bad';
}

/** Advice about a response status for the endpoint's developers; undefined when none is needed. */
function hintOf(view: View, httpStatus: number | undefined): string | undefined {
  const { answers } = textsFor(view, deliveriesTexts);
  if (httpStatus === undefined || httpStatus < 300) return undefined;
  if (httpStatus < 400) return answers.redirect;
  if (httpStatus === 410) return answers.gone;
  if (httpStatus === 401 || httpStatus === 403) return answers.denied;
  if (httpStatus === 429) return answers.tooMany;
  return httpStatus >= 500 ? answers.broken : undefined;
}
