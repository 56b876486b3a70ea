import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite, type TestHarness } from '../../../support/harness.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../../support/list-walk.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

/** The list of subscriptions, for the list suite. */
export function subscriptionList(harness: TestHarness): ListSubject {
  const { subscriptions, subscribe } = webhooksFixture(harness, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: { state: { values: ['PENDING', 'DISABLED'] } },
    truth: `select id as key, ${newestFirst('created_at')}, state
      from webhooks.subscription where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const state = WebhookSubscriptionState[filters.state as keyof typeof WebhookSubscriptionState];
          const response = subscriptions.listWebhookSubscriptions({
            ...tenant,
            ...(filters.state && { state }),
            pageSize: limit,
            pageToken: after,
          });
          return rpcPage(response, (answer) => answer.subscriptions.map(({ id }) => id));
        },
        async insert(place) {
          const { id } = await subscribe(tenant);
          await placeRow(harness, 'webhooks.subscription', 'created_at', id, place);
        },
        async change({ key, state }) {
          const request = { ...newWrite(tenant), subscriptionId: key };
          if (state === 'DISABLED') await subscriptions.reactivateWebhookSubscription(request);
          else await subscriptions.disableWebhookSubscription(request);
        },
      };
    },
  };
}
