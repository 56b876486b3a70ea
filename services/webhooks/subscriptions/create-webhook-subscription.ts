import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  CreateWebhookSubscriptionRequest,
  CreateWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { EnvironmentGuards } from '../../platform/egress/environment-guards.ts';
import type { WebhookUrl } from '../../platform/egress/webhook-url.ts';
import type { Config } from '../../platform/process/config.ts';
import { parseAllAsync } from '../../platform/request-faults.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { requireEventTypes } from '../events/event-types/event-catalog.ts';
import { publishPing } from '../events/ping.event.ts';
import { acceptWebhookUrl } from './accept-webhook-url.ts';
import { newSigningSecret, sealSecret } from './signing-secret.ts';
import { SigningSecretEntity, SubscriptionEntity } from './subscription.entity.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import {
  lockSubscriptionCount,
  requireBelowLimit,
  type SubscriptionCountWrites,
} from './subscription-limit.ts';
import { lockSubscriptions, requireUnusedUrl } from './subscription-store.ts';

interface Dependencies {
  readonly config: Pick<Config, 'WEBHOOK_SUBSCRIPTION_LIMIT' | 'WEBHOOK_SECRET_KEYS'>;
  readonly guards: EnvironmentGuards;
  readonly writes: Writes;
  readonly countWrites: SubscriptionCountWrites;
}

/**
 * Creates a subscription with its signing secret, and publishes a ping. Checks the idempotency key first, so that a replay
 * succeeds even if the catalog or the host's DNS has changed since. Queries DNS outside the transaction.
 */
export async function createWebhookSubscription(
  { config, guards, writes, countWrites }: Dependencies,
  request: CreateWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  const replayed = await writes.findReplay<typeof CreateWebhookSubscriptionResponseSchema>(request, context);
  if (replayed) return replayed;
  const [, url] = await parseAllAsync(
    () => requireEventTypes(request.eventTypes),
    () => acceptWebhookUrl(guards[tenantOf(request).environment], request.url),
  );
  return countWrites.run(request, context, () =>
    writes.run<typeof CreateWebhookSubscriptionResponseSchema>(request, context, async (tx) => {
      await lockSubscriptionCount(tx);
      await requireBelowLimit(tx, config.WEBHOOK_SUBSCRIPTION_LIMIT);
      await requireUnusedUrl(tx, url);
      await lockSubscriptions(tx);
      const subscription = await addSubscription(tx, url, request);
      const owner = { ...tx.tenant, subscriptionId: subscription.id };
      tx.create(SigningSecretEntity, {
        id: uuidv7(),
        subscriptionId: subscription.id,
        ...sealSecret(config.WEBHOOK_SECRET_KEYS, owner, newSigningSecret()),
        createdAt: subscription.createdAt,
      });
      await publishPing(tx, subscription, subscription.createdAt);
      return { subscription: storedSubscriptionMessage(subscription) };
    }),
  );
}

async function addSubscription(
  tx: TenantTransaction,
  url: WebhookUrl,
  {
    eventTypes,
    ordered,
    description,
  }: Pick<CreateWebhookSubscriptionRequest, 'eventTypes' | 'ordered' | 'description'>,
) {
  const now = new Date();
  const subscription = tx.create(SubscriptionEntity, {
    id: uuidv7(),
    url: url.href,
    uniqueUrl: url.uniqueForm,
    description,
    eventTypes: [...eventTypes],
    state: 'PENDING',
    generation: 1n,
    createdAt: now,
    holding: false,
    ordered,
  });
  await tx.flush();
  return subscription;
}
