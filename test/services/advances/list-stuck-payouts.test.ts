import { Code, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { stuckPayoutList } from './stuck-payout-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('funds,advances', statements);
});
afterAll(() => harness.close());

describeList('ListStuckPayouts', () => stuckPayoutList(harness));

describePlans(() => stuckPayoutList(harness), statements, [['', 'request_stuck_payout']]);

it('spans merchants and environments, or one environment, for callers with the grant operations', async () => {
  const client = createClient(AdvanceService, harness.transports.inProcess);
  const live = newTenant();
  const test = { ...newTenant(), environment: Environment.TEST };
  for (const tenant of [live, test]) await (await stuckPayoutList(harness).fixtureOf(tenant)).insert(0);
  const merchantsOf = async (request: { environment?: Environment }) => {
    const merchants: string[] = [];
    for (let pageToken = ''; ; ) {
      const page = await client.listStuckPayouts({ ...request, pageSize: 100, pageToken });
      merchants.push(...page.advanceRequests.map(({ merchantId }) => merchantId));
      pageToken = page.nextPageToken;
      if (pageToken === '') return merchants;
    }
  };
  expect(await merchantsOf({})).toEqual(expect.arrayContaining([live.merchantId, test.merchantId]));
  const sandbox = await merchantsOf({ environment: Environment.TEST });
  expect(sandbox).toContain(test.merchantId);
  expect(sandbox).not.toContain(live.merchantId);
  const reader = harness.services.transportFor({ name: 'reader', grants: new Set(['advances:read']) });
  const { listStuckPayouts } = createClient(AdvanceService, reader);
  await expectRefusal(listStuckPayouts({}), Code.PermissionDenied, 'GRANT_MISSING', { grant: 'operations' });
  expect((await listStuckPayouts(live)).advanceRequests).toHaveLength(1);
});
