import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { subscriptionList } from './subscription-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('webhooks', statements);
});
afterAll(() => house.close());

describeList('ListWebhookSubscriptions', () => subscriptionList(house));

describePlans(() => subscriptionList(house), statements, [['', 'subscription_newest']]);
