import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { endDeliveries } from '../../../../services/webhooks/deliveries/end-deliveries.sql.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListFilters, type ListSubject, rpcPage } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const SUBSCRIPTIONS = [randomUUID(), randomUUID()];
const START_MS = Date.now() - 3_600_000;
const EVENTS = [0, 1, 2].map(() => uuidv7({ msecs: START_MS }));
const TYPES = ['payment.succeeded.v1', 'refund.failed.v1'];
const REQUESTS = ['request a', 'request b', 'request b'];
const OBJECTS = ['object a', 'object b', 'object b'];
const RESEND = randomUUID();

/** Filters that are tried in combination. */
const FILTERS: Record<'goal' | 'cause' | 'object', ListSubject['filters']> = {
  goal: {
    subscriptionId: { values: [...SUBSCRIPTIONS, randomUUID()], isId: true },
    eventId: { values: EVENTS, isId: true },
    status: { values: ['PENDING', 'RETRYING', 'SUCCEEDED', 'CANCELED'] },
  },
  cause: {
    eventType: { values: [...TYPES, 'refund.unknown.v1'] },
    requestId: { values: ['request a', 'request b'] },
    resendId: { values: [RESEND], isId: true },
    createdFrom: { values: ['1', '3'], fits: ({ key }, place) => placeOf(key) >= Number(place) },
    createdTo: { values: ['4'], fits: ({ key }, place) => placeOf(key) < Number(place) },
  },
  object: {
    objectId: { values: [...new Set(OBJECTS), 'object c'] },
    requestId: { values: ['request a', 'request b'] },
    status: { values: ['PENDING', 'SUCCEEDED'] },
  },
};

/** A UUIDv7 begins with its milliseconds. */
const placeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) - START_MS;

/**
 * The list of deliveries, for the list suite. Rows are written directly to the database, because the list must handle
 * rows that commit later than their ids say.
 */
export function deliveryList(harness: TestHarness, filters: keyof typeof FILTERS): ListSubject {
  const { deliveries } = webhooksFixture(harness, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: FILTERS[filters],
    truth: `select id as key, id as "order", status, subscription_id as "subscriptionId", event_id as "eventId",
        event_type as "eventType", object_id as "objectId", request_id as "requestId", resend_id as "resendId"
      from webhooks.delivery where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      await sqlOf(harness, `select webhooks.ensure_partitions('live', to_timestamp($1), now())`, [
        START_MS / 1_000,
      ]);
      await sqlOf(
        harness,
        `insert into webhooks.event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
         select $1, 'live', id, 'payment.succeeded.v1', object_id, 1, request_id, now(), '{}'
           from unnest($2::uuid[], $3::text[], $4::text[]) as of (id, object_id, request_id) on conflict do nothing`,
        [tenant.merchantId, EVENTS, OBJECTS, REQUESTS],
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
            harness,
            `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
               object_id, sequence, request_id, resend_id, ordered, status, attempt_count, next_attempt_at)
             values ($1, 'live', $2, $3, webhooks.lane_of($3), $4, $5, $8, 1, $6, $7, false, 'PENDING', 0, now())`,
            [
              ...[
                tenant.merchantId,
                uuidv7({ msecs: START_MS + place }),
                SUBSCRIPTIONS[n % 2],
                EVENTS[n % 3],
              ],
              ...[TYPES[n % 5 === 0 ? 1 : 0], REQUESTS[n % 3], n % 4 === 0 ? RESEND : null, OBJECTS[n % 3]],
            ],
          );
        },
        async change({ key }, pick) {
          const open = `status = 'PENDING' and id = $1`;
          const change =
            pick % 2
              ? `with ${endDeliveries(`where d.id = $1 and d.status = 'PENDING'`, {
                  status: `'SUCCEEDED'`,
                  endedAt: 'now()',
                })} select from ended`
              : `update webhooks.open_delivery set status = 'RETRYING', attempt_count = 1 where ${open}`;
          await sqlOf(harness, change, [key]);
        },
      };
    },
  };
}

function requestOf({ status, createdFrom, createdTo, ...asTheyAre }: ListFilters) {
  return {
    ...asTheyAre,
    ...(status && { status: DeliveryStatus[status as keyof typeof DeliveryStatus] }),
    ...(createdFrom && { createdFrom: timestampFromMs(START_MS + Number(createdFrom)) }),
    ...(createdTo && { createdTo: timestampFromMs(START_MS + Number(createdTo)) }),
  };
}
