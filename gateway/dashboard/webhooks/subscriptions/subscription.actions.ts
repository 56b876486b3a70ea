import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { rfc3339 } from './missed-period.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const ROLE = { role: Role.DEVELOPER, section: 'webhooks', refusals: subscriptionTexts } as const;

/** What can be done to a subscription, besides its secret. Pausing is for operations, and so is ending a pause. */
export function subscriptionActions({ pages, clients: { webhookSubscriptions } }: FeatureDependencies): void {
  pages.action({ path: '/webhooks/:subscriptionId/test', ...ROLE }, async (view, { params, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = { ...view.tenant, subscriptionId, idempotencyKey: key };
    const { eventId } = await webhookSubscriptions.sendTestEvent(request, view.call);
    return { redirect: `/webhooks/${subscriptionId}?test=${eventId}#test` };
  });

  pages.action({ path: '/webhooks/:subscriptionId/disable', ...ROLE }, async (view, { params, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = { ...view.tenant, subscriptionId, idempotencyKey: key };
    await webhookSubscriptions.disableWebhookSubscription(request, view.call);
    return { redirect: `/webhooks/${subscriptionId}`, notice: 'disabled' };
  });

  pages.action({ path: '/webhooks/:subscriptionId/reactivate', ...ROLE }, async (view, { params, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = { ...view.tenant, subscriptionId, idempotencyKey: key };
    const answer = await webhookSubscriptions.reactivateWebhookSubscription(request, view.call);
    const missed = { missed_from: written(answer.missedFrom), missed_to: written(answer.missedTo) };
    return { redirect: `/webhooks/${subscriptionId}?${new URLSearchParams(missed)}` };
  });
}

const written = (at: Timestamp | undefined) => (at ? rfc3339(at) : '');
