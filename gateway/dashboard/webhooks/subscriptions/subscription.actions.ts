import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { WebhookSubscriptionService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Pages } from '../../shell/pages.ts';
import { rfc3339 } from './missed-events.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const SPEC = { section: 'webhooks', refusals: subscriptionTexts } as const;
const PATH = '/webhooks/:subscriptionId';
const RPCS = WebhookSubscriptionService.method;

/** Tests, disables, reactivates and deletes a subscription. Only operations pause and resume. */
export function subscriptionActions(pages: Pages): void {
  const test = { ...SPEC, path: `${PATH}/test`, rpc: RPCS.sendTestEvent };
  pages.action(test, async (view, { params, key }) => {
    const { eventId } = await view.clients.webhookSubscriptions.sendTestEvent(requestOf(params, key));
    return { redirect: `/webhooks/${params.subscriptionId}?test=${eventId}#test` };
  });

  const disable = { ...SPEC, path: `${PATH}/disable`, rpc: RPCS.disableWebhookSubscription };
  pages.action(disable, async (view, { params, key }) => {
    await view.clients.webhookSubscriptions.disableWebhookSubscription(requestOf(params, key));
    return { redirect: `/webhooks/${params.subscriptionId}`, notice: 'disabled' };
  });

  const remove = { ...SPEC, path: `${PATH}/delete`, rpc: RPCS.deleteWebhookSubscription };
  pages.action(remove, async (view, { params, key }) => {
    await view.clients.webhookSubscriptions.deleteWebhookSubscription(requestOf(params, key));
    return { redirect: `/webhooks/${params.subscriptionId}`, notice: 'deleted' };
  });

  const reactivate = { ...SPEC, path: `${PATH}/reactivate`, rpc: RPCS.reactivateWebhookSubscription };
  pages.action(reactivate, async (view, { params, key }) => {
    const request = requestOf(params, key);
    const response = await view.clients.webhookSubscriptions.reactivateWebhookSubscription(request);
    const { from, before } = response.missed!;
    const missed = {
      missed: `${from}-${before}`,
      missed_from: timeText(response.missedFrom),
      missed_to: timeText(response.missedTo),
    };
    return { redirect: `/webhooks/${request.subscriptionId}?${new URLSearchParams(missed)}` };
  });
}

const requestOf = (params: Readonly<Record<string, string>>, idempotencyKey: string) => ({
  subscriptionId: params.subscriptionId!,
  idempotencyKey,
});

const timeText = (at: Timestamp | undefined) => (at ? rfc3339(at) : '');
