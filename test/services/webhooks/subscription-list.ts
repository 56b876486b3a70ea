import type { TestHouse } from '../../support/house.ts';
import { newKey } from '../../support/house.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';
import { webhooksDesk } from './webhooks-desk.ts';

/** The list of subscriptions, for the suite of lists. */
export function subscriptionList(house: TestHouse): ListSubject {
  const { subscriptions, subscribe } = webhooksDesk(house, house.transports.inProcess);
  return {
    ...{ house, direction: 'desc', maxLimit: 100, maxTokenLength: 200, filters: {} },
    truth: `select id as key, ${newestFirst('created_at')}, state
      from webhooks.subscription where merchant_id = $1 and environment = $2`,
    async deskOf(tenant) {
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const asked = subscriptions.listWebhookSubscriptions({
            ...tenant,
            pageSize: limit,
            pageToken: after,
          });
          return rpcPage(asked, (answer) => answer.subscriptions.map(({ id }) => id));
        },
        async insert(place) {
          const { id } = await subscribe(tenant);
          await placeRow(house, 'webhooks.subscription', 'created_at', id, place);
        },
        async change({ key, state }) {
          const request = { ...tenant, idempotencyKey: newKey(), subscriptionId: key };
          if (state === 'DISABLED') await subscriptions.reactivateWebhookSubscription(request);
          else await subscriptions.disableWebhookSubscription(request);
        },
      };
    },
  };
}
