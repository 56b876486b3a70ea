import type { HandlerContext } from '@connectrpc/connect';
import type {
  UpdateWebhookSubscriptionRequest,
  UpdateWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { EnvironmentGuards } from '../../platform/egress/environment-guards.ts';
import type { WebhookUrl } from '../../platform/egress/webhook-url.ts';
import { invalidArgument } from '../../platform/errors.ts';
import { parseAllAsync } from '../../platform/request-faults.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { requireEventTypes } from '../events/event-types/event-catalog.ts';
import { publishPing } from '../events/ping.event.ts';
import { acceptWebhookUrl } from './accept-webhook-url.ts';
import type { SubscriptionRow } from './subscription.entity.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { requireEtag } from './subscription-etag.ts';
import { lockSubscription, lockSubscriptions, requireUnusedUrl } from './subscription-store.ts';

interface Dependencies {
  readonly guards: EnvironmentGuards;
  readonly writes: Writes;
}

/**
 * Changes the url, event types or description of a subscription. Every event whose transaction commits later sees the
 * change. A new url is checked like that of a new subscription, and gets a ping. With an etag, it refuses a change
 * that was based on other contents than the current ones.
 */
export async function updateWebhookSubscription(
  { guards, writes }: Dependencies,
  request: UpdateWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  requireChange(request);
  const replayed = await writes.findReplay<typeof UpdateWebhookSubscriptionResponseSchema>(request, context);
  if (replayed) return replayed;
  const { eventTypes, description } = request;
  const guard = guards[tenantOf(request).environment];
  const [, url] = await parseAllAsync(
    () => requireEventTypes(eventTypes),
    () => (request.url === undefined ? undefined : acceptWebhookUrl(guard, request.url)),
  );
  return writes.run<typeof UpdateWebhookSubscriptionResponseSchema>(request, context, async (tx) => {
    await lockSubscriptions(tx);
    const subscription = await lockSubscription(tx, request.subscriptionId);
    requireEtag(subscription, request.etag);
    if (eventTypes.length > 0) subscription.eventTypes = [...eventTypes];
    subscription.description = description ?? subscription.description;
    if (url && url.href !== subscription.url) await changeUrl(tx, subscription, url);
    return { subscription: storedSubscriptionMessage(subscription) };
  });
}

function requireChange({ url, eventTypes, description }: UpdateWebhookSubscriptionRequest): void {
  if (url !== undefined || eventTypes.length > 0 || description !== undefined) return;
  throw invalidArgument('INVALID_ARGUMENT', 'set a url, event_types or a description');
}

/**
 * The new endpoint has accepted nothing yet, so the subscription becomes PENDING, and outcomes of attempts to the
 * former one no longer change its state. Lane owners read deliveries together with the generation, so the ping and
 * everything else read after the commit goes to the new url. A DISABLED subscription is pinged when it is
 * reactivated.
 */
async function changeUrl(tx: TenantTransaction, subscription: SubscriptionRow, url: WebhookUrl) {
  await requireUnusedUrl(tx, url, subscription.id);
  subscription.url = url.href;
  subscription.uniqueUrl = url.uniqueForm;
  subscription.generation += 1n;
  subscription.error = null;
  subscription.errorAt = null;
  if (subscription.state === 'DISABLED') return;
  subscription.state = 'PENDING';
  await tx.flush();
  await publishPing(tx, subscription, new Date());
}
