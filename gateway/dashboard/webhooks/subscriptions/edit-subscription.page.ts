import { Type } from 'typebox';
import {
  type EventType,
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { details, form as formOf, hiddenFields, NONE, notice } from '../../shell/components.ts';
import { reasonOf } from '../../shell/failures.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { endpointBreadcrumb } from '../breadcrumbs.ts';
import { type CreationFault, creationFault, incompleteFault } from './creation-fault.ts';
import { editSubscriptionTexts } from './edit-subscription.texts.ts';
import { SubscriptionForm, subscriptionFields, type Typed, typedOf } from './subscription-form.ts';
import { readSubscription } from './subscription-reads.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const CONFLICT = 409;
const SPEC = {
  path: '/webhooks/:subscriptionId/edit',
  rpc: WebhookSubscriptionService.method.updateWebhookSubscription,
  section: 'webhooks',
  refusals: subscriptionTexts,
} as const;
/** `etag`: of the subscription as the form showed it. Saving fails if the subscription has changed since. */
const EditForm = Type.Object({ ...SubscriptionForm.properties, etag: Type.String({ maxLength: 100 }) });

/** Changes the URL, description and event types of a subscription. */
export function editSubscriptionPages(pages: Pages): void {
  const read = async (view: View, subscriptionId: string) =>
    Promise.all([
      readSubscription(view, subscriptionId),
      view.clients.events.listEventTypes({}).then(({ eventTypes }) => eventTypes),
    ]);

  pages.page(SPEC, async (view, { params }) => {
    const [subscription, catalog] = await read(view, params.subscriptionId!);
    const { url, description, eventTypes: chosen, etag } = subscription;
    return editPage(view, {
      subscription,
      catalog,
      typed: { url, description, chosen, every: false },
      etag,
    });
  });

  pages.action({ ...SPEC, form: EditForm }, async (view, { params, form, key }) => {
    const [subscription, catalog] = await read(view, params.subscriptionId!);
    const { typed, names } = typedOf(form, catalog);
    const { etag } = form;
    const reject = (fault: CreationFault) => editPage(view, { subscription, catalog, typed, etag, fault });
    const incomplete = incompleteFault(view, typed.url, names);
    if (incomplete) return reject(incomplete);
    try {
      const { id: subscriptionId } = subscription;
      const request = { subscriptionId, idempotencyKey: key, etag };
      const changes = changesOf(subscription, typed, names);
      await view.clients.webhookSubscriptions.updateWebhookSubscription({ ...request, ...changes });
      return { redirect: `/webhooks/${subscription.id}`, notice: 'updated' };
    } catch (error) {
      if (reasonOf(error) === 'WEBHOOK_SUBSCRIPTION_CHANGED') {
        const [current] = await read(view, params.subscriptionId!);
        const shown = { subscription: current, etag: current.etag };
        return { ...editPage(view, { ...shown, catalog, typed, isConflict: true }), status: CONFLICT };
      }
      const fault = creationFault(view, error, typed.url);
      if (!fault) throw error;
      return reject(fault);
    }
  });
}

/** Leaves out an unchanged URL, which would be checked by DNS again. */
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
  readonly catalog: readonly EventType[];
  readonly typed: Typed;
  /** The etag of the subscription whose values the person has seen. */
  readonly etag: string;
  readonly fault?: CreationFault;
  /** Whether somebody has changed it since the form was opened. */
  readonly isConflict?: boolean;
}

function editPage(view: View, { subscription, catalog, typed, etag, fault, isConflict = false }: Edit): Page {
  const t = textsFor(view, editSubscriptionTexts);
  const fields = html`${hiddenFields({ etag })}
${subscriptionFields(view, catalog, typed, fault)}
<ul class="hint">${t.hints.map((hint) => html`<li>${hint}</li>`)}</ul>`;
  const { id } = subscription;
  return {
    title: t.title,
    ...(fault && { status: fault.status }),
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}
${fault?.general ? notice('bad', fault.general) : nothing}
${isConflict ? conflict(view, subscription) : nothing}
${formOf(view, { action: `/webhooks/${id}/edit`, submit: t.submit, fields })}
<p><a href="${pathTo(view, `/webhooks/${id}`)}">${t.cancel}</a></p>`,
  };
}

/** Explains that the form showed outdated values, and lists the current ones. */
function conflict(view: View, { url, description, eventTypes }: WebhookSubscription): Html {
  const t = textsFor(view, editSubscriptionTexts);
  const labels = textsFor(view, subscriptionTexts);
  return html`${notice('bad', t.conflict)}
<section class="card"><h2>${t.current}</h2>${details([
    [labels.url, html`<code>${url}</code>`],
    [labels.description, description || NONE],
    [
      labels.eventTypes,
      html`<ul class="plain">${eventTypes.map((name) => html`<li><code>${name}</code></li>`)}</ul>`,
    ],
  ])}</section>`;
}
