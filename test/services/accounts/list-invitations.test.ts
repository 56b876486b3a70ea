import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { invitationList } from './invitation-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('accounts', statements);
});
afterAll(() => house.close());

describeList('ListInvitations', () => invitationList(house));

describePlans(() => invitationList(house), statements, [['', 'invitation_newest']]);
