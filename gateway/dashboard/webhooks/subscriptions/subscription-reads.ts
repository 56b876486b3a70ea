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
 * Reads a subscription of the merchant, even if it was deleted.
 * @param withHealth whether the services also read how recent attempts ended
 * @throws ConnectError NOT_FOUND, also for another merchant's subscription
 */
export async function readSubscription(
  { clients }: View,
  subscriptionId: string,
  { withHealth = false } = {},
): Promise<WebhookSubscription> {
  const request = { subscriptionId, withHealth };
  const response = await clients.webhookSubscriptions.getWebhookSubscription(request);
  return response.subscription!;
}

interface SubscriptionsToRead {
  /** Whether the services also read how recent attempts ended. */
  readonly withHealth: boolean;
  /** Reads only as many, newest first, as it takes to find these. Default: as many as there may be. */
  readonly ids?: ReadonlySet<string>;
}

/** Reads the merchant's subscriptions: the newest 500. */
export async function readSubscriptions(
  { clients }: View,
  { withHealth, ids }: SubscriptionsToRead,
): Promise<readonly WebhookSubscription[]> {
  const read: WebhookSubscription[] = [];
  const missing = ids && new Set(ids);
  const list = clients.webhookSubscriptions.listWebhookSubscriptions;
  for await (const { subscriptions } of pagesOf((page) => list({ ...page, withHealth }))) {
    read.push(...subscriptions);
    for (const { id } of subscriptions) missing?.delete(id);
    if (read.length >= MAX_SUBSCRIPTIONS || missing?.size === 0) break;
  }
  return read;
}

/**
 * The subscriptions that a page names, by id. Includes deleted ones, but not those of listeners.
 * @param ids may repeat an id
 */
export async function readEndpoints(view: View, ids: readonly string[]): Promise<Endpoints> {
  const named = new Set(ids);
  // A single one needs no list.
  const listed = named.size > 1 ? await readSubscriptions(view, { withHealth: false, ids: named }) : [];
  const known = new Set(listed.map(({ id }) => id));
  const unlisted = [...named].filter((id) => !known.has(id));
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
