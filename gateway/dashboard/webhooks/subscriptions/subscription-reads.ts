import type {
  SigningSecretStatus,
  WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import type { View } from '../../shell/view.ts';

type Clients = Pick<DashboardClients, 'webhookSubscriptions'>;

const PAGE_SIZE = 100;
/** Few have more than a page of them, and one has to end. */
const MOST_PAGES = 5;

/** A subscription of the merchant whose page it is. NOT_FOUND for any other. */
export async function readSubscription(
  { webhookSubscriptions }: Clients,
  { tenant, call }: View,
  subscriptionId: string,
): Promise<WebhookSubscription> {
  const answer = await webhookSubscriptions.getWebhookSubscription({ ...tenant, subscriptionId }, call);
  return answer.subscription!;
}

/** The merchant's subscriptions: the newest five hundred. */
export async function readSubscriptions(
  { webhookSubscriptions }: Clients,
  { tenant, call }: Pick<View, 'tenant' | 'call'>,
): Promise<readonly WebhookSubscription[]> {
  const read: WebhookSubscription[] = [];
  let pageToken = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const request = { ...tenant, pageSize: PAGE_SIZE, pageToken };
    const answer = await webhookSubscriptions.listWebhookSubscriptions(request, call);
    read.push(...answer.subscriptions);
    pageToken = answer.nextPageToken;
    if (pageToken === '') break;
  }
  return read;
}

/** Where the deliveries of those go: their URLs, by their ids. */
export async function readEndpointUrls(clients: Clients, view: View): Promise<ReadonlyMap<string, string>> {
  return new Map((await readSubscriptions(clients, view)).map(({ id, url }) => [id, url]));
}

/** What is known of the secrets that sign for it, the current one first. */
export async function readSecrets(
  { webhookSubscriptions }: Clients,
  { tenant, call }: View,
  subscriptionId: string,
): Promise<readonly SigningSecretStatus[]> {
  return (await webhookSubscriptions.getSigningSecretStatus({ ...tenant, subscriptionId }, call)).secrets;
}
