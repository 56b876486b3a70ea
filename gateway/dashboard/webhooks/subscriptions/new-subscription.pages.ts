import { ConnectError } from '@connectrpc/connect';
import {
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import type { FeatureDependencies } from '../../shell/feature.ts';
import type { View } from '../../shell/view.ts';
import { creationFault } from './creation-fault.ts';
import { newSubscriptionPage } from './new-subscription.page.ts';
import { revealOnce } from './reveal-once.ts';
import { createdPage } from './signing-secret.page.ts';
import { SubscriptionForm, type Typed, typedOf } from './subscription-form.ts';

const rpc = WebhookSubscriptionService.method.createWebhookSubscription;
const SPEC = { path: '/webhooks/new', rpc, section: 'webhooks' } as const;

/** Creates a subscription. The response shows the secret, but not again when the form is resubmitted. */
export function newSubscriptionPages({ pages, clients, config }: FeatureDependencies): void {
  const eventTypes = async (view: View) => (await clients.events.listEventTypes({}, view.call)).eventTypes;

  pages.page(SPEC, async (view) =>
    newSubscriptionPage(view, config, await eventTypes(view), {
      url: '',
      description: '',
      chosen: [],
      every: false,
    }),
  );

  pages.action({ ...SPEC, form: SubscriptionForm }, async (view, { form, key }) => {
    const catalog = await eventTypes(view);
    const { typed, names } = typedOf(form, catalog);
    try {
      const subscription = await create(clients, view, key, typed, names);
      return createdPage(view, subscription, await revealOnce(clients, view, subscription.id));
    } catch (error) {
      const fault = error instanceof ConnectError ? creationFault(view, error, typed.url) : undefined;
      if (!fault) throw error;
      return { ...newSubscriptionPage(view, config, catalog, typed, fault), status: fault.status };
    }
  });
}

async function create(
  { webhookSubscriptions }: DashboardClients,
  view: View,
  idempotencyKey: string,
  { url, description }: Typed,
  eventTypes: readonly string[],
): Promise<WebhookSubscription> {
  const request = { ...view.tenant, idempotencyKey, url, description, eventTypes: [...eventTypes] };
  const { subscription } = await webhookSubscriptions.createWebhookSubscription(request, view.call);
  return subscription!;
}
