import type { EventType } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { form, notice } from '../../shell/components.ts';
import type { DashboardConfig } from '../../shell/feature.ts';
import { html, nothing } from '../../shell/html.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { egressAddresses, webhookGuide } from '../guide-links.ts';
import type { CreationFault } from './creation-fault.ts';
import { newSubscriptionTexts } from './new-subscription.texts.ts';
import { subscriptionFields, type Typed } from './subscription-form.ts';

/** The form for a new subscription, with submitted values and their faults. */
export function newSubscriptionPage(
  view: View,
  config: Pick<DashboardConfig, 'WEBHOOK_EGRESS_ADDRESSES'>,
  catalog: readonly EventType[],
  typed: Typed,
  fault?: CreationFault,
): Page {
  const t = textsFor(view, newSubscriptionTexts);
  const fields = html`${subscriptionFields(view, catalog, typed, fault)}
<p class="hint">${t.secretHint}</p>
${egressAddresses(view, config)}`;
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks')}
${webhookGuide(view, 'deliveries')}
${fault?.general ? notice('bad', fault.general) : nothing}
${form(view, { action: '/webhooks/new', submit: t.submit, fields })}
<p><a href="${pathTo(view, '/webhooks')}">${t.cancel}</a></p>`,
  };
}
