import type { ServiceImpl } from '@connectrpc/connect';
import type { WebhookSubscriptionService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import type { EnvironmentGuards } from '../../platform/egress/environment-guards.ts';
import { createWebhookSubscription } from './create-webhook-subscription.ts';
import { deleteWebhookSubscription } from './delete-webhook-subscription.ts';
import { disableWebhookSubscription } from './disable-webhook-subscription.ts';
import { getSigningSecretStatus } from './get-signing-secret-status.ts';
import { getWebhookSubscription } from './get-webhook-subscription.ts';
import { listWebhookSubscriptions } from './list-webhook-subscriptions.ts';
import { pauseWebhookSubscription } from './pause-webhook-subscription.ts';
import { reactivateWebhookSubscription } from './reactivate-webhook-subscription.ts';
import { resumeWebhookSubscription } from './resume-webhook-subscription.ts';
import { revealSigningSecret } from './reveal-signing-secret.ts';
import { rotateSigningSecret } from './rotate-signing-secret.ts';
import { sendTestEvent } from './send-test-event.ts';
import { setDeliveryLimits } from './set-delivery-limits.ts';
import { SubscriptionCountWrites } from './subscription-limit.ts';
import { updateWebhookSubscription } from './update-webhook-subscription.ts';

/** The RPCs about subscriptions. */
export function subscriptionService(
  { config, database, pagination, writes }: AreaDependencies,
  guards: EnvironmentGuards,
): ServiceImpl<typeof WebhookSubscriptionService> {
  const { WEBHOOK_SUBSCRIPTION_LIMIT: limit, WEBHOOK_SECRET_KEYS: keys } = config;
  const countWrites = new SubscriptionCountWrites();
  return {
    createWebhookSubscription: (request, context) =>
      createWebhookSubscription({ config, guards, writes, countWrites }, request, context),
    getWebhookSubscription: (request) => getWebhookSubscription(database, request),
    listWebhookSubscriptions: (request) => listWebhookSubscriptions(database, pagination, request),
    updateWebhookSubscription: (request, context) =>
      updateWebhookSubscription({ guards, writes }, request, context),
    deleteWebhookSubscription: (request, context) => deleteWebhookSubscription(writes, request, context),
    disableWebhookSubscription: (request, context) => disableWebhookSubscription(writes, request, context),
    reactivateWebhookSubscription: (request, context) =>
      reactivateWebhookSubscription({ writes, countWrites, limit }, request, context),
    pauseWebhookSubscription: (request, context) => pauseWebhookSubscription(writes, request, context),
    resumeWebhookSubscription: (request, context) => resumeWebhookSubscription(writes, request, context),
    setDeliveryLimits: (request, context) => setDeliveryLimits(writes, request, context),
    revealSigningSecret: (request, context) => revealSigningSecret(writes, keys, request, context),
    rotateSigningSecret: (request, context) => rotateSigningSecret({ config, writes }, request, context),
    getSigningSecretStatus: (request) => getSigningSecretStatus(database, request),
    sendTestEvent: (request, context) => sendTestEvent(writes, request, context),
  };
}
