import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { advanceRequestList } from './advance-request-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('funds,advances', statements);
});
afterAll(() => house.close());

describeList('ListAdvanceRequests', () => advanceRequestList(house), 8);

describePlans(() => advanceRequestList(house), statements, [['', 'request_newest']]);
