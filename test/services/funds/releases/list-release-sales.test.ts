import { Code } from '@connectrpc/connect';
import { it } from 'vitest';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant } from '../../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../../support/list-suite.ts';
import { fundsCaller } from '../funds-caller.ts';
import { DUE, releaseSaleList } from './release-sale-list.ts';

const { harness, statements } = sharedListHarness('funds');

describeList('ListReleaseSales', () => releaseSaleList(harness()));

describePlans(() => releaseSaleList(harness()), statements, [
  ['', 'installment_date'],
  ['status', 'installment_blocked'],
]);

// Of a day's sales, few may be released or scheduled.
for (const status of ['RELEASED', 'SCHEDULED'] as const) {
  describePlans(() => releaseSaleList(harness(), [status]), statements, [
    ['status', 'installment_day_status'],
  ]);
}

it('accepts only tokens of the same day, and valid dates', async () => {
  const fixture = await releaseSaleList(harness()).fixtureOf(newTenant());
  for (const place of [0, 2]) await fixture.insert(place);
  const { client, tenant } = fundsCaller(harness().transports.inProcess, fixture.tenant);
  const { nextPageToken: pageToken } = await client.listReleaseSales({ ...tenant, date: DUE, pageSize: 1 });
  const other = client.listReleaseSales({ ...tenant, date: '2020-08-19', pageToken });
  await expectRefusal(other, Code.InvalidArgument, 'INVALID_PAGE_TOKEN');
  const never = client.listReleaseSales({ ...tenant, date: '2023-02-30' });
  await expectRefusal(never, Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'date' });
});
