import { testList } from '../../support/list-suite.ts';
import { type ListFixture, pageOf } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';
import { advanceRequestList } from './advance-request-list.ts';
import { copyRequest } from './request-rows.ts';

const harness = testList(
  'ListAdvanceRequests',
  'funds,advances',
  advanceRequestList,
  [
    ['', 'request_newest'],
    ['status', 'request_status'],
    ['providerPayoutId', 'request_provider_payout'],
  ],
  addManyRefused,
);

/** Refuses a request, and copies it. */
async function addManyRefused(fixture: ListFixture): Promise<void> {
  const [key] = (await pageOf(fixture, { limit: 1 })).keys;
  await fixture.change({ key: key!, order: '', status: 'PENDING_REVIEW' }, 0);
  await copyRequest(harness(), key!, 1_000);
  await sqlOf(harness(), 'analyze advances.request');
}
