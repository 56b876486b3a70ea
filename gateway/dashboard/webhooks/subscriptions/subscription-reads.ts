import type {
  SigningSecretStatus,
  WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import type { View } from '../../shell/view.ts';

type Clients = Pick<DashboardClients, 'webhookSubscriptions'>;

/** What lists of deliveries show of their subscriptions, by id. */
export type Endpoints = ReadonlyMap<string, Pick<WebhookSubscription, 'url' | 'pausedAt'>>;

const PAGE_SIZE = 100;
/** Few merchants have more than one page. */
const MAX_PAGES = 5;

/**
 * Reads a subscription of the merchant.
 * @throws ConnectError NOT_FOUND, also for another merchant's subscription
 */
export async function readSubscription(
  { webhookSubscriptions }: Clients,
  { tenant, call }: View,
  subscriptionId: string,
): Promise<WebhookSubscription> {
  const answer = await webhookSubscriptions.getWebhookSubscription({ ...tenant, subscriptionId }, call);
  return answer.subscription!;
}

/** Reads the merchant's subscriptions: the newest 500. */
export async function readSubscriptions(
  { webhookSubscriptions }: Clients,
  { tenant, call }: Pick<View, 'tenant' | 'call'>,
): Promise<readonly WebhookSubscription[]> {
  const read: WebhookSubscription[] = [];
  let pageToken = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const request = { ...tenant, pageSize: PAGE_SIZE, pageToken };
    const answer = await webhookSubscriptions.listWebhookSubscriptions(request, call);
    read.push(...answer.subscriptions);
    pageToken = answer.nextPageToken;
    if (pageToken === '') break;
  }
  return read;
}

/** The merchant's subscriptions, by id. */
export async function readEndpoints(clients: Clients, view: View): Promise<Endpoints> {
  return new Map(
    (await readSubscriptions(clients, view)).map((subscription) => [subscription.id, subscription]),
  );
}

/** The status of a subscription's signing secrets, the current one first. */
export async function readSecrets(
  { webhookSubscriptions }: Clients,
  { tenant, call }: View,
  subscriptionId: string,
): Promise<readonly SigningSecretStatus[]> {
  return (await webhookSubscriptions.getSigningSecretStatus({ ...tenant, subscriptionId }, call)).secrets;
}
