import type { EventType } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { form, notice } from '../../shell/components.ts';
import { html, nothing } from '../../shell/html.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import type { CreationFault } from './creation-fault.ts';
import { newSubscriptionTexts } from './new-subscription.texts.ts';
import { subscriptionFields, type Typed } from './subscription-form.ts';

/** The form for a new subscription, with submitted values and their faults. */
export function newSubscriptionPage(
  view: View,
  catalogue: readonly EventType[],
  typed: Typed,
  fault?: CreationFault,
): Page {
  const t = textsFor(view, newSubscriptionTexts);
  const fields = html`${subscriptionFields(view, catalogue, typed, fault)}
<p class="hint">${t.secretHint}</p>`;
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks')}
${fault?.general ? notice('bad', fault.general) : nothing}
${form(view, { action: '/webhooks/new', submit: t.submit, fields })}
<p><a href="${pathTo(view, '/webhooks')}">${t.cancel}</a></p>`,
  };
}
