import { createClient } from '@connectrpc/connect';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { TestHarness, TestTenant } from '../../../support/harness.ts';
import { type ListFixture, newestFirst, rpcPage, timeOf } from '../../../support/list-walk.ts';
import type { Queue } from '../../../support/queue-suite.ts';
import { sqlOf } from '../../../support/sql.ts';

/**
 * The queue of failing accounts, for the queue suite. An account normally has one row, but the suite needs many,
 * which the test's database allows. Items do not name their row, so they are identified by their first failure and
 * their number of differences, which is unique.
 */
export function verificationQueue(harness: TestHarness): Queue {
  return {
    table: 'funds.failing_account',
    list: (transport) => createClient(FundsService, transport).listVerificationQueue({}),
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: {},
      truth: `select differences::text as key, ${newestFirst('failing_since')}
        from funds.failing_account where merchant_id = $1 and environment = $2`,
      fixtureOf: async (tenant) => fixtureOf(harness, tenant, scopeOf(tenant)),
    }),
  };
}

let rows = 0;

function fixtureOf(harness: TestHarness, tenant: TestTenant, scope: object): ListFixture {
  const client = createClient(FundsService, harness.transports.inProcess);
  const environment = tenant.environment === Environment.LIVE ? 'live' : 'test';
  let inserted = 0;
  return {
    tenant,
    list: ({ limit = 0, after = '' }) =>
      rpcPage(client.listVerificationQueue({ ...scope, pageSize: limit, pageToken: after }), ({ items }) =>
        items.map(({ differences }) => String(differences)),
      ),
    async insert(place) {
      rows += 1;
      inserted += 1;
      await sqlOf(
        harness,
        `insert into funds.failing_account
           (merchant_id, environment, failing_since, verified_at, differences, invariants)
         values ($1, $2, $3, $3, $4, array['DEBT'])`,
        [tenant.merchantId, environment, timeOf(place), rows],
      );
    },
    /** Many stay in the queue, because the suite counts them. */
    async change({ key }, pick) {
      const change =
        inserted < 50 && pick % 2
          ? 'delete from funds.failing_account'
          : 'update funds.failing_account set verified_at = now()';
      await sqlOf(harness, `${change} where merchant_id = $1 and differences = $2`, [tenant.merchantId, key]);
    },
  };
}
