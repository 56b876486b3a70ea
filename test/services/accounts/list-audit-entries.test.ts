import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { expect, it } from 'vitest';
import { Language } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../support/list-suite.ts';
import { type ListSubject, planOf, rpcPage } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';
import { accountsFixture } from './accounts-fixture.ts';

const { harness, statements } = sharedListHarness('accounts');

describeList('ListAuditEntries', () => auditEntryList(harness()));

describePlans(
  () => auditEntryList(harness()),
  statements,
  [
    ['', String.raw`audit_entry_\d+_pkey`],
    ['accountId', String.raw`audit_entry_\d+_merchant_id_environment_account_id_id_idx`],
  ],
  'platform.audit_entry',
);

it('orders the entries of a person so that only the index by person fits', async () => {
  statements.length = 0;
  await accountsFixture(harness().transports.inProcess).client.listAuditEntries({
    ...newTenant(),
    accountId: ACCOUNTS[0]!,
  });
  expect(await planOf(harness(), statements.at(-1)!)).toContain('Sort Key: e.account_id, e.id DESC');
});

const START_MS = Date.UTC(2020, 0, 1);
const ACCOUNTS = [randomUUID(), randomUUID()];

/** The audit trail, for the list suite. Its entries never change. */
function auditEntryList(harness: TestHarness): ListSubject {
  const { client, write } = accountsFixture(harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: { accountId: { values: [...ACCOUNTS, randomUUID()], isId: true } },
    truth: `select id as key, id as "order", account_id as "accountId"
      from platform.audit_entry where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      await sqlOf(harness, `select platform.ensure_audit_partitions('2020-01-01', '2020-01-30')`);
      let inserted = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const response = client.listAuditEntries({
            ...tenant,
            ...filters,
            pageSize: limit,
            pageToken: after,
          });
          return rpcPage(response, (answer) => answer.entries.map(({ id }) => id));
        },
        async insert(place) {
          const accountId = ACCOUNTS[inserted++ % 3 === 0 ? 1 : 0]!;
          const headers = { 'request-id': randomUUID() };
          await client.setMerchantContact({ ...write(tenant), language: Language.EN }, { headers });
          await sqlOf(
            harness,
            'update platform.audit_entry set id = $1, account_id = $2 where request_id = $3',
            [uuidv7({ msecs: START_MS + place }), accountId, headers['request-id']],
          );
        },
        async change() {},
      };
    },
  };
}
