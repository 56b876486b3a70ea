import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { apiKeyList } from './api-key-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('api-keys', statements);
});
afterAll(() => house.close());

describeList('ListApiKeys', () => apiKeyList(house));

describePlans(() => apiKeyList(house), statements, [['', 'api_key_newest']]);
