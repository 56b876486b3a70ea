import { ConnectError } from '@connectrpc/connect';
import { Type } from 'typebox';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { WebhookSubscription } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import type { FeatureDependencies } from '../../shell/feature.ts';
import type { View } from '../../shell/view.ts';
import { creationFault } from './creation-fault.ts';
import { newSubscriptionPage } from './new-subscription.page.ts';
import { revealOnce } from './reveal-once.ts';
import { createdPage } from './signing-secret.page.ts';

const SPEC = { path: '/webhooks/new', role: Role.DEVELOPER, section: 'webhooks' } as const;
const FORM = Type.Object({
  url: Type.String({ maxLength: 20_000 }),
  event_types: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 })),
  every: Type.Optional(Type.Literal('on')),
});

/** Creates a subscription. The response shows the secret, but not again when the form is resubmitted. */
export function newSubscriptionPages({ pages, clients, config }: FeatureDependencies): void {
  const eventTypes = async (view: View) => (await clients.events.listEventTypes({}, view.call)).eventTypes;

  pages.page(SPEC, async (view) =>
    newSubscriptionPage(view, await eventTypes(view), { url: '', chosen: [], every: false }),
  );

  pages.action({ ...SPEC, form: FORM }, async (view, { form, key }) => {
    const catalogue = await eventTypes(view);
    const every = form.every !== undefined;
    const typed = { url: form.url.trim(), chosen: form.event_types ?? [], every };
    const names = every ? catalogue.map(({ name }) => name) : typed.chosen;
    try {
      const subscription = await create(clients, view, key, typed.url, names);
      return createdPage(view, config, subscription, await revealOnce(clients, view, subscription.id));
    } catch (error) {
      const fault = error instanceof ConnectError ? creationFault(view, error, typed.url) : undefined;
      if (!fault) throw error;
      return { ...newSubscriptionPage(view, catalogue, typed, fault), status: fault.status };
    }
  });
}

async function create(
  { webhookSubscriptions }: DashboardClients,
  view: View,
  idempotencyKey: string,
  url: string,
  eventTypes: readonly string[],
): Promise<WebhookSubscription> {
  const request = { ...view.tenant, idempotencyKey, url, eventTypes: [...eventTypes] };
  const { subscription } = await webhookSubscriptions.createWebhookSubscription(request, view.call);
  return subscription!;
}
