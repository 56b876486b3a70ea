import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { sessionList } from './session-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('accounts', statements);
});
afterAll(() => house.close());

describeList('ListSessions', () => sessionList(house));

describePlans(() => sessionList(house), statements, [['', 'session_newest']]);
