import type {
  SigningSecretStatus,
  WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { unlessRefused } from '../../../../services/platform/rpc/connect-errors.ts';
import { pagesOf } from '../../../../services/platform/rpc/pages-of.ts';
import type { View } from '../../shell/view.ts';

/** What lists of deliveries show of their subscriptions, by id. */
export type Endpoints = ReadonlyMap<string, Pick<WebhookSubscription, 'url' | 'pausedAt'>>;

/** Few merchants have more than one page of a hundred. */
const MAX_SUBSCRIPTIONS = 500;

/**
 * Reads a subscription of the merchant with its health, even if it was deleted.
 * @throws ConnectError NOT_FOUND, also for another merchant's subscription
 */
export async function readSubscription(
  { clients }: View,
  subscriptionId: string,
): Promise<WebhookSubscription> {
  const request = { subscriptionId, withHealth: true };
  const response = await clients.webhookSubscriptions.getWebhookSubscription(request);
  return response.subscription!;
}

/** Reads the merchant's subscriptions with their health: the newest 500. */
export async function readSubscriptions({ clients }: View): Promise<readonly WebhookSubscription[]> {
  const read: WebhookSubscription[] = [];
  const list = clients.webhookSubscriptions.listWebhookSubscriptions;
  for await (const { subscriptions } of pagesOf((page) => list({ ...page, withHealth: true }))) {
    read.push(...subscriptions);
    if (read.length >= MAX_SUBSCRIPTIONS) break;
  }
  return read;
}

/**
 * The merchant's subscriptions, by id.
 * @param ids the ids that a page names. Includes deleted ones among them, but not those of listeners.
 */
export async function readEndpoints(view: View, ids: readonly string[]): Promise<Endpoints> {
  const listed = await readSubscriptions(view);
  const known = new Set(listed.map(({ id }) => id));
  const unlisted = [...new Set(ids)].filter((id) => !known.has(id));
  const read = await Promise.all(unlisted.map((id) => findSubscription(view, id)));
  const found = read.filter((subscription) => subscription !== undefined);
  return new Map([...listed, ...found].map((subscription) => [subscription.id, subscription]));
}

/** The subscription of a delivery; undefined for a listener on a developer's machine, which leaves only its deliveries. */
export function findSubscription(
  view: View,
  subscriptionId: string,
): Promise<WebhookSubscription | undefined> {
  return unlessRefused(readSubscription(view, subscriptionId), { WEBHOOK_SUBSCRIPTION_NOT_FOUND: undefined });
}

/** The status of a subscription's signing secrets, the current one first. */
export async function readSecrets(
  { clients }: View,
  subscriptionId: string,
): Promise<readonly SigningSecretStatus[]> {
  return (await clients.webhookSubscriptions.getSigningSecretStatus({ subscriptionId })).secrets;
}
