import type {
  SigningSecretStatus,
  WebhookSubscription,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import type { View } from '../view.ts';

type Clients = Pick<DashboardClients, 'webhookSubscriptions'>;

/** A subscription of the merchant whose page it is. NOT_FOUND for any other. */
export async function readSubscription(
  { webhookSubscriptions }: Clients,
  { tenant, call }: View,
  subscriptionId: string,
): Promise<WebhookSubscription> {
  const answer = await webhookSubscriptions.getWebhookSubscription({ ...tenant, subscriptionId }, call);
  return answer.subscription!;
}

/** What is known of the secrets that sign for it, the current one first. */
export async function readSecrets(
  { webhookSubscriptions }: Clients,
  { tenant, call }: View,
  subscriptionId: string,
): Promise<readonly SigningSecretStatus[]> {
  return (await webhookSubscriptions.getSigningSecretStatus({ ...tenant, subscriptionId }, call)).secrets;
}
