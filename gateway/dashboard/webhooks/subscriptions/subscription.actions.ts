import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { WebhookSubscriptionService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { FeatureDependencies } from '../../shell/feature.ts';
import type { View } from '../../shell/view.ts';
import { rfc3339 } from './missed-events.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const SPEC = { section: 'webhooks', refusals: subscriptionTexts } as const;
const PATH = '/webhooks/:subscriptionId';
const RPCS = WebhookSubscriptionService.method;

/** Tests, disables, reactivates and deletes a subscription. Only operations pause and resume. */
export function subscriptionActions({ pages, clients: { webhookSubscriptions } }: FeatureDependencies): void {
  const test = { ...SPEC, path: `${PATH}/test`, rpc: RPCS.sendTestEvent };
  pages.action(test, async (view, { params, key }) => {
    const request = requestOf(view, params, key);
    const { eventId } = await webhookSubscriptions.sendTestEvent(request, view.call);
    return { redirect: `/webhooks/${request.subscriptionId}?test=${eventId}#test` };
  });

  const disable = { ...SPEC, path: `${PATH}/disable`, rpc: RPCS.disableWebhookSubscription };
  pages.action(disable, async (view, { params, key }) => {
    const request = requestOf(view, params, key);
    await webhookSubscriptions.disableWebhookSubscription(request, view.call);
    return { redirect: `/webhooks/${request.subscriptionId}`, notice: 'disabled' };
  });

  const remove = { ...SPEC, path: `${PATH}/delete`, rpc: RPCS.deleteWebhookSubscription };
  pages.action(remove, async (view, { params, key }) => {
    const request = requestOf(view, params, key);
    await webhookSubscriptions.deleteWebhookSubscription(request, view.call);
    return { redirect: `/webhooks/${request.subscriptionId}`, notice: 'deleted' };
  });

  const reactivate = { ...SPEC, path: `${PATH}/reactivate`, rpc: RPCS.reactivateWebhookSubscription };
  pages.action(reactivate, async (view, { params, key }) => {
    const request = requestOf(view, params, key);
    const response = await webhookSubscriptions.reactivateWebhookSubscription(request, view.call);
    const { from, before } = response.missed!;
    const missed = {
      missed: `${from}-${before}`,
      missed_from: timeText(response.missedFrom),
      missed_to: timeText(response.missedTo),
    };
    return { redirect: `/webhooks/${request.subscriptionId}?${new URLSearchParams(missed)}` };
  });
}

const requestOf = ({ tenant }: View, params: Readonly<Record<string, string>>, idempotencyKey: string) => ({
  ...tenant,
  subscriptionId: params.subscriptionId!,
  idempotencyKey,
});

const timeText = (at: Timestamp | undefined) => (at ? rfc3339(at) : '');
