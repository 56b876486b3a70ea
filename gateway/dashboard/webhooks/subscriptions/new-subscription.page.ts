import {
  type EventType,
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { form as formOf, notice } from '../../shell/components.ts';
import type { DashboardConfig } from '../../shell/dependencies.ts';
import { html, nothing } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { egressAddresses, webhookGuide } from '../guide-links.ts';
import { type CreationFault, creationFault, incompleteFault } from './creation-fault.ts';
import { newSubscriptionTexts } from './new-subscription.texts.ts';
import { createdPage } from './signing-secret.page.ts';
import { SubscriptionForm, subscriptionFields, type Typed, typedOf } from './subscription-form.ts';

const rpc = WebhookSubscriptionService.method.createWebhookSubscription;
const SPEC = { path: '/webhooks/new', rpc, section: 'webhooks' } as const;

/** Creates a subscription. The response shows the secret, but not again when the form is resubmitted. */
export function newSubscriptionPages(pages: Pages, config: DashboardConfig): void {
  const eventTypes = async (view: View) => (await view.clients.events.listEventTypes({})).eventTypes;

  pages.page(SPEC, async (view) =>
    newSubscriptionPage(view, config, {
      catalog: await eventTypes(view),
      typed: { url: '', description: '', chosen: [], every: false },
    }),
  );

  pages.action({ ...SPEC, form: SubscriptionForm }, async (view, { form, key }) => {
    const catalog = await eventTypes(view);
    const { typed, names } = typedOf(form, catalog);
    const reject = (fault: CreationFault) => newSubscriptionPage(view, config, { catalog, typed, fault });
    const incomplete = incompleteFault(view, typed.url, names);
    if (incomplete) return reject(incomplete);
    try {
      return await createdPage(view, await create(view, key, typed, names));
    } catch (error) {
      const fault = creationFault(view, error, typed.url);
      if (!fault) throw error;
      return reject(fault);
    }
  });
}

interface SubmittedForm {
  readonly catalog: readonly EventType[];
  readonly typed: Typed;
  readonly fault?: CreationFault;
}

/** The form for a new subscription, with submitted values and their faults. */
function newSubscriptionPage(
  view: View,
  config: Pick<DashboardConfig, 'WEBHOOK_EGRESS_ADDRESSES'>,
  { catalog, typed, fault }: SubmittedForm,
): Page {
  const t = textsFor(view, newSubscriptionTexts);
  const fields = html`${subscriptionFields(view, catalog, typed, fault)}
<p class="hint">${t.secretHint}</p>
${egressAddresses(view, config)}`;
  return {
    title: t.title,
    ...(fault && { status: fault.status }),
    body: html`${breadcrumbs(view, 'webhooks')}
${webhookGuide(view, 'webhook-deliveries')}
${fault?.general ? notice('bad', fault.general) : nothing}
${formOf(view, { action: '/webhooks/new', submit: t.submit, fields })}
<p><a href="${pathTo(view, '/webhooks')}">${t.cancel}</a></p>`,
  };
}

async function create(
  view: View,
  idempotencyKey: string,
  { url, description }: Typed,
  eventTypes: readonly string[],
): Promise<WebhookSubscription> {
  const request = { idempotencyKey, url, description, eventTypes: [...eventTypes] };
  const { subscription } = await view.clients.webhookSubscriptions.createWebhookSubscription(request);
  return subscription!;
}
