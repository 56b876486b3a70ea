import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { rfc3339 } from './missed-period.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const SPEC = { role: Role.DEVELOPER, section: 'webhooks', refusals: subscriptionTexts } as const;

/** Tests, disables and reactivates a subscription. Only operations pause and resume. */
export function subscriptionActions({ pages, clients: { webhookSubscriptions } }: FeatureDependencies): void {
  pages.action({ path: '/webhooks/:subscriptionId/test', ...SPEC }, async (view, { params, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = { ...view.tenant, subscriptionId, idempotencyKey: key };
    const { eventId } = await webhookSubscriptions.sendTestEvent(request, view.call);
    return { redirect: `/webhooks/${subscriptionId}?test=${eventId}#test` };
  });

  pages.action({ path: '/webhooks/:subscriptionId/disable', ...SPEC }, async (view, { params, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = { ...view.tenant, subscriptionId, idempotencyKey: key };
    await webhookSubscriptions.disableWebhookSubscription(request, view.call);
    return { redirect: `/webhooks/${subscriptionId}`, notice: 'disabled' };
  });

  pages.action({ path: '/webhooks/:subscriptionId/reactivate', ...SPEC }, async (view, { params, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = { ...view.tenant, subscriptionId, idempotencyKey: key };
    const answer = await webhookSubscriptions.reactivateWebhookSubscription(request, view.call);
    const missed = { missed_from: timeText(answer.missedFrom), missed_to: timeText(answer.missedTo) };
    return { redirect: `/webhooks/${subscriptionId}?${new URLSearchParams(missed)}` };
  });
}

const timeText = (at: Timestamp | undefined) => (at ? rfc3339(at) : '');
