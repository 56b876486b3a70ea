import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { ResendState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { testList } from '../../../support/list-suite.ts';
import { type ListSubject, rpcPage } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

testList(
  'ListResends',
  'webhooks',
  resendList,
  [
    ['', 'resend_pkey'],
    ['state', 'resend_state'],
  ],
  'webhooks.resend',
);

const START_MS = Date.now() - 3_600_000;

/**
 * The list of resends, for the list suite; rows are written directly to the database, more than may run at a time.
 */
function resendList(harness: TestHarness): ListSubject {
  const { deliveries } = webhooksFixture(harness, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: { state: { values: ['RUNNING', 'COMPLETED', 'CANCELED'] } },
    truth: `select id as key, id as "order", state
      from webhooks.resend where merchant_id = $1 and environment = $2`,
    fixtureOf: async (tenant) => ({
      tenant,
      list: ({ filters = {}, limit = 0, after = '' }) => {
        const state = filters.state && ResendState[filters.state as keyof typeof ResendState];
        const request = { ...tenant, ...(state && { state }), pageSize: limit, pageToken: after };
        return rpcPage(deliveries.listResends(request), (answer) => answer.resends.map(({ id }) => id));
      },
      async insert(place) {
        await sqlOf(
          harness,
          `insert into webhooks.resend (merchant_id, environment, id, event_id, only_failed, state, request_id,
             created_at, after_event_id, after_subscription_id, last_event_id, expected_count, made_count,
             succeeded_count, exhausted_count, canceled_count, open_ids)
           values ($1, 'live', $2, $3, false, 'RUNNING', 'r', now(), $3, $3, $3, 1, 0, 0, 0, 0, '{}')`,
          [tenant.merchantId, uuidv7({ msecs: START_MS + place }), randomUUID()],
        );
      },
      async change({ key }, pick) {
        const state = pick % 2 ? 'COMPLETED' : 'CANCELED';
        const end = `update webhooks.resend set state = $1, ended_at = now() where id = $2 and state = 'RUNNING'`;
        await sqlOf(harness, end, [state, key]);
      },
    }),
  };
}
