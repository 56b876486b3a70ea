import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { deliveryList } from './delivery-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('webhooks', statements);
});
afterAll(() => house.close());

describeList('ListDeliveries', () => deliveryList(house));

describePlans(() => deliveryList(house), statements, [
  ['', 'delivery_pkey'],
  ['subscriptionId', 'delivery_subscription'],
]);
