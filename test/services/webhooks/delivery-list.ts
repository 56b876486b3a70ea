import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TestHouse } from '../../support/house.ts';
import { type ListFilters, type ListSubject, rpcPage, sqlOf } from '../../support/list-walk.ts';
import { webhooksDesk } from './webhooks-desk.ts';

const SUBSCRIPTIONS = [randomUUID(), randomUUID()];
const EVENTS = [randomUUID(), randomUUID(), randomUUID()];
const START_MS = Date.now() - 3_600_000;

/**
 * The list of deliveries, for the suite of lists. Rows are written past the services: a delivery is made in the order
 * of time, and the list has to stand rows that are committed later than their ids say.
 */
export function deliveryList(house: TestHouse): ListSubject {
  const { deliveries } = webhooksDesk(house, house.transports.inProcess);
  return {
    ...{ house, direction: 'desc', maxLimit: 100, maxTokenLength: 200 },
    filters: {
      subscriptionId: { values: [...SUBSCRIPTIONS, randomUUID()], isId: true },
      eventId: { values: EVENTS, isId: true },
      status: { values: ['PENDING', 'RETRYING', 'SUCCEEDED', 'CANCELED'] },
    },
    truth: `select id as key, id as "order", status, subscription_id as "subscriptionId", event_id as "eventId"
      from webhooks.delivery where merchant_id = $1 and environment = $2`,
    async deskOf(tenant) {
      await sqlOf(
        house,
        `insert into webhooks.event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
         select $1, 'live', unnest($2::uuid[]), 'payment.succeeded.v1', 'p', 1, 'r', now(), '{}' on conflict do nothing`,
        [tenant.merchantId, EVENTS],
      );
      let inserted = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const request = { ...tenant, ...requestOf(filters), pageSize: limit, pageToken: after };
          return rpcPage(deliveries.listDeliveries(request), (answer) =>
            answer.deliveries.map(({ id }) => id),
          );
        },
        async insert(place) {
          const n = inserted++;
          await sqlOf(
            house,
            `insert into webhooks.delivery (merchant_id, environment, id, subscription_id, event_id, status,
               attempt_count, next_attempt_at) values ($1, 'live', $2, $3, $4, 'PENDING', 0, now())`,
            [tenant.merchantId, uuidv7({ msecs: START_MS + place }), SUBSCRIPTIONS[n % 2], EVENTS[n % 3]],
          );
        },
        async change({ key }, pick) {
          const change =
            pick % 2
              ? `status = 'SUCCEEDED', ended_at = now(), next_attempt_at = null`
              : `status = 'RETRYING', attempt_count = 1`;
          await sqlOf(house, `update webhooks.delivery set ${change} where id = $1 and status = 'PENDING'`, [
            key,
          ]);
        },
      };
    },
  };
}

function requestOf({ status, ...ids }: ListFilters) {
  return {
    ...ids,
    status: status && DeliveryStatus[status as keyof typeof DeliveryStatus],
  } as { status?: DeliveryStatus };
}
