import type { Attempt, AttemptFailure } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { badge, moment, type Tone } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { attemptFailureTexts } from './attempt-failure.texts.ts';
import { requestDetails, timingText } from './attempt-request.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import { attemptResultText, latencyText } from './delivery.components.ts';
import { deliveryTexts } from './delivery.texts.ts';

/** All attempts, newest first, with their requests and excerpts of the endpoint's responses, which are untrusted text. */
export function attemptsList(view: View, attempts: readonly Attempt[], body: string | undefined): Html {
  const t = textsFor(view, deliveryTexts);
  if (attempts.length === 0) return html`<p class="empty">${t.noAttempts}</p>`;
  return html`<ol class="attempts" reversed>${attempts.toReversed().map((attempt, index) => attemptItem(view, attempt, index === 0, body))}</ol>`;
}

function attemptItem(view: View, attempt: Attempt, isNewest: boolean, body: string | undefined): Html {
  const t = textsFor(view, deliveryTexts);
  const { number, startedAt, responseExcerpt: excerpt } = attempt;
  const hint = hintOf(view, attempt);
  return html`<li class="card"><p><strong>${t.attempt(view.format.number(number))}</strong>
${badge(toneOf(attempt), attemptResultText(view, attempt))} <span class="soft">${latencyText(view, attempt)}</span> ${moment(view, startedAt)}</p>
${timingText(view, attempt)}
${hint ? html`<p class="hint">${hint}</p>` : nothing}
${
  excerpt
    ? html`<details data-key="${number}"${isNewest ? html` open` : nothing}><summary>${t.excerpt}</summary><pre>${excerpt}</pre></details>`
    : excerpt === ''
      ? html`<p class="soft">${t.emptyExcerpt}</p>`
      : nothing
}
${requestDetails(view, attempt, body, isNewest)}</li>`;
}

function toneOf({ httpStatus, failure }: Attempt): Tone {
  if (httpStatus === undefined && failure === undefined) return 'busy';
  return httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300 ? 'good' : 'bad';
}

/** What the endpoint's developers can do about the result of an attempt; undefined when there is nothing to do. */
function hintOf(view: View, { httpStatus, failure, detail }: Attempt): string | undefined {
  if (failure !== undefined) return failureHint(view, failure, detail);
  if (httpStatus === undefined || httpStatus < 300) return undefined;
  const { answers } = textsFor(view, deliveriesTexts);
  const { redirect, redirectTo } = textsFor(view, attemptFailureTexts);
  if (httpStatus < 400) return detail.case === 'redirectLocation' ? redirectTo(detail.value) : redirect;
  if (httpStatus === 410) return answers.gone;
  if (httpStatus === 401 || httpStatus === 403) return answers.denied;
  if (httpStatus === 429) return answers.tooMany;
  return httpStatus >= 500 ? answers.broken : undefined;
}

function failureHint(view: View, failure: AttemptFailure, detail: Attempt['detail']): string | undefined {
  const { failures, certificateNames } = textsFor(view, attemptFailureTexts);
  const texts: Partial<Record<AttemptFailure, { readonly advice: string }>> = failures;
  const advice = texts[failure]?.advice;
  return detail.case === 'certificateNames' ? `${advice} ${certificateNames(detail.value)}` : advice;
}
