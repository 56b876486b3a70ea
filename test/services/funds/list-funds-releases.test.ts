import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { releaseList } from './release-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('funds', statements);
});
afterAll(() => house.close());

describeList('ListFundsReleases', () => releaseList(house));

describePlans(() => releaseList(house), statements, [
  ['', 'release_pkey'],
  ['from', 'release_pkey'],
  ['status', 'release_of_status'],
]);
