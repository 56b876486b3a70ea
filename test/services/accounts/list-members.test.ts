import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { memberList } from './member-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('accounts', statements);
});
afterAll(() => house.close());

describeList('ListMembers', () => memberList(house));

describePlans(() => memberList(house), statements, [['', 'member_oldest']]);
