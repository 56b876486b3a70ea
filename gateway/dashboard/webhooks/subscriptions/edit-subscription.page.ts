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
/**
 * `etag`: of the subscription as the form showed it. Saving fails if the subscription has changed since. `shown_url`: its URL
 * then.
 */
const EditForm = Type.Object({
  ...SubscriptionForm.properties,
  etag: Type.String({ maxLength: 100 }),
  shown_url: Type.Optional(Type.String({ maxLength: 20_000 })),
});

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
      shown: { etag, url },
    });
  });

  pages.action({ ...SPEC, form: EditForm }, async (view, { params, form, key }) => {
    const [subscription, catalog] = await read(view, params.subscriptionId!);
    const { typed, names } = typedOf(form, catalog);
    const shown = { etag: form.etag, url: form.shown_url };
    const reject = (fault: CreationFault) => editPage(view, { subscription, catalog, typed, shown, fault });
    const incomplete = incompleteFault(view, typed.url, names);
    if (incomplete) return reject(incomplete);
    try {
      const { id: subscriptionId } = subscription;
      const request = { subscriptionId, idempotencyKey: key, etag: form.etag };
      const changes = changesOf(shown, typed, names);
      await view.clients.webhookSubscriptions.updateWebhookSubscription({ ...request, ...changes });
      return { redirect: `/webhooks/${subscription.id}`, notice: 'updated' };
    } catch (error) {
      if (reasonOf(error) === 'WEBHOOK_SUBSCRIPTION_CHANGED') {
        const [current] = await read(view, params.subscriptionId!);
        const again = { subscription: current, catalog, typed, shown: current, isConflict: true };
        return { ...editPage(view, again), status: CONFLICT };
      }
      const fault = creationFault(view, error, typed.url);
      if (!fault) throw error;
      return reject(fault);
    }
  });
}

/**
 * Leaves out an unchanged URL, which would be checked by DNS again. Depends on the form alone, so that one that is sent again is
 * the same request.
 */
const changesOf = (shown: Shown, { url, description }: Typed, names: readonly string[]) => ({
  ...(url === shown.url ? {} : { url }),
  description,
  eventTypes: [...names],
});

/** What the person has seen of the subscription. */
interface Shown {
  readonly etag: string;
  readonly url: string | undefined;
}

interface Edit {
  readonly subscription: WebhookSubscription;
  readonly catalog: readonly EventType[];
  readonly typed: Typed;
  readonly shown: Shown;
  readonly fault?: CreationFault;
  /** Whether somebody has changed it since the form was opened. */
  readonly isConflict?: boolean;
}

function editPage(
  view: View,
  { subscription, catalog, typed, shown, fault, isConflict = false }: Edit,
): Page {
  const t = textsFor(view, editSubscriptionTexts);
  const { etag, url = '' } = shown;
  const fields = html`${hiddenFields({ etag, shown_url: url })}
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
