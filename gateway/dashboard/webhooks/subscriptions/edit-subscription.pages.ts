import { ConnectError } from '@connectrpc/connect';
import {
  type EventType,
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { form as formOf, notice } from '../../shell/components.ts';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { html, nothing } from '../../shell/html.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { endpointBreadcrumb } from '../breadcrumbs.ts';
import { type CreationFault, creationFault } from './creation-fault.ts';
import { editSubscriptionTexts } from './edit-subscription.texts.ts';
import { newSubscriptionTexts } from './new-subscription.texts.ts';
import { SubscriptionForm, subscriptionFields, type Typed, typedOf } from './subscription-form.ts';
import { readSubscription } from './subscription-reads.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const INVALID = 422;
const SPEC = {
  path: '/webhooks/:subscriptionId/edit',
  rpc: WebhookSubscriptionService.method.updateWebhookSubscription,
  section: 'webhooks',
  refusals: subscriptionTexts,
} as const;

/** Changes the URL, description and event types of a subscription. */
export function editSubscriptionPages({ pages, clients }: FeatureDependencies): void {
  const read = async (view: View, subscriptionId: string) =>
    Promise.all([
      readSubscription(clients, view, subscriptionId),
      clients.events.listEventTypes({}, view.call).then(({ eventTypes }) => eventTypes),
    ]);

  pages.page(SPEC, async (view, { params }) => {
    const [subscription, catalogue] = await read(view, params.subscriptionId!);
    const { url, description, eventTypes: chosen } = subscription;
    return editPage(view, { subscription, catalogue, typed: { url, description, chosen, every: false } });
  });

  pages.action({ ...SPEC, form: SubscriptionForm }, async (view, { params, form, key }) => {
    const [subscription, catalogue] = await read(view, params.subscriptionId!);
    const { typed, names } = typedOf(form, catalogue);
    if (names.length === 0) {
      const eventTypes = textsFor(view, newSubscriptionTexts).eventTypesMissing;
      const fault = { status: INVALID, eventTypes };
      return { ...editPage(view, { subscription, catalogue, typed, fault }), status: INVALID };
    }
    try {
      const request = { ...view.tenant, subscriptionId: subscription.id, idempotencyKey: key };
      const changes = changesOf(subscription, typed, names);
      await clients.webhookSubscriptions.updateWebhookSubscription({ ...request, ...changes }, view.call);
      return { redirect: `/webhooks/${subscription.id}`, notice: 'updated' };
    } catch (error) {
      const fault = error instanceof ConnectError ? creationFault(view, error, typed.url) : undefined;
      if (!fault) throw error;
      return { ...editPage(view, { subscription, catalogue, typed, fault }), status: fault.status };
    }
  });
}

/** A URL that stays is not sent: it would have to resolve and be public at this moment. */
const changesOf = (
  subscription: WebhookSubscription,
  { url, description }: Typed,
  names: readonly string[],
) => ({
  ...(url === subscription.url ? {} : { url }),
  description,
  eventTypes: [...names],
});

interface Edit {
  readonly subscription: WebhookSubscription;
  readonly catalogue: readonly EventType[];
  readonly typed: Typed;
  readonly fault?: CreationFault;
}

function editPage(view: View, { subscription, catalogue, typed, fault }: Edit): Page {
  const t = textsFor(view, editSubscriptionTexts);
  const fields = html`${subscriptionFields(view, catalogue, typed, fault)}
<ul class="hint">${t.hints.map((hint) => html`<li>${hint}</li>`)}</ul>`;
  const { id } = subscription;
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}
${fault?.general ? notice('bad', fault.general) : nothing}
${formOf(view, { action: `/webhooks/${id}/edit`, submit: t.submit, fields })}
<p><a href="${pathTo(view, `/webhooks/${id}`)}">${t.cancel}</a></p>`,
  };
}
