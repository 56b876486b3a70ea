import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { resendList } from './resend-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('webhooks', statements);
});
afterAll(() => house.close());

describeList('ListResends', () => resendList(house));

describePlans(() => resendList(house), statements, [
  ['', 'resend_pkey'],
  ['state', 'resend_state'],
]);
