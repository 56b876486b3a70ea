import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import type { TestHarness } from '../../../support/harness.ts';
import { testList } from '../../../support/list-suite.ts';
import { type ListFilters, type ListSubject, rpcPage } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { PAYMENT, webhooksFixture } from '../webhooks-fixture.ts';

const taken = (index: string) => String.raw`event_live_\d+_${index}`;

testList('ListEvents', 'webhooks', eventList, [
  ['', taken('pkey')],
  ['type', taken('merchant_id_environment_type_id_idx')],
  ['objectId', taken('merchant_id_environment_object_id_id_idx')],
  ['requestId', taken('merchant_id_environment_request_id_id_idx')],
  ['publishedFrom', taken('pkey')],
]);

const START_MS = Date.now() - 3_600_000;
const TYPES = ['payment.succeeded.v1', 'refund.failed.v1'];
const OBJECTS = ['object a', 'object b', 'object c'];
const REQUESTS = ['request a', 'request b'];

/** The list of events, for the list suite; they are written directly to the database, and never change. */
function eventList(harness: TestHarness): ListSubject {
  const { events } = webhooksFixture(harness, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: {
      type: { values: [...TYPES, 'refund.unknown.v1'] },
      objectId: { values: OBJECTS },
      requestId: { values: REQUESTS },
      publishedFrom: { values: ['1', '3'], fits: ({ key }, place) => placeOf(key) >= Number(place) },
      publishedTo: { values: ['4'], fits: ({ key }, place) => placeOf(key) < Number(place) },
    },
    truth: `select id as key, id as "order", type, object_id as "objectId", request_id as "requestId"
      from webhooks.event where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      await sqlOf(harness, `select webhooks.ensure_partitions('live', to_timestamp($1), now())`, [
        START_MS / 1_000,
      ]);
      let inserted = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const request = { ...tenant, ...requestOf(filters), pageSize: limit, pageToken: after };
          return rpcPage(events.listEvents(request), (answer) => answer.events.map(({ id }) => id));
        },
        async insert(place) {
          const n = inserted++;
          await sqlOf(
            harness,
            `insert into webhooks.event
               (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
             values ($1, 'live', $2, $3, $4, 1, $5, now(), $6)`,
            [
              ...[tenant.merchantId, uuidv7({ msecs: START_MS + place }), TYPES[n % 5 === 0 ? 1 : 0]],
              ...[OBJECTS[n % 3], REQUESTS[n % 2], JSON.stringify({ data: PAYMENT })],
            ],
          );
        },
        change: async () => undefined,
      };
    },
  };
}

/** A UUIDv7 begins with its milliseconds. */
const placeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) - START_MS;

function requestOf({ publishedFrom, publishedTo, ...asTheyAre }: ListFilters) {
  return {
    ...asTheyAre,
    ...(publishedFrom && { publishedFrom: timestampFromMs(START_MS + Number(publishedFrom)) }),
    ...(publishedTo && { publishedTo: timestampFromMs(START_MS + Number(publishedTo)) }),
  };
}
