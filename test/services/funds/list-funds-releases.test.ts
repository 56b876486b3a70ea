import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { releaseList } from './release-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('funds', statements);
});
afterAll(() => harness.close());

describeList('ListFundsReleases', () => releaseList(harness));

describePlans(() => releaseList(harness), statements, [
  ['', 'release_pkey'],
  ['from', 'release_pkey'],
  ['status', 'release_of_status'],
]);
