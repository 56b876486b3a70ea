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

describeList('ListDeliveries by what they go to', () => deliveryList(house, 'goal'));
describeList('ListDeliveries by what caused them', () => deliveryList(house, 'cause'));
describeList('ListDeliveries by what they are about', () => deliveryList(house, 'object'));

const ended = (columns: string) =>
  String.raw`ended_delivery_live_\d+_merchant_id_environment_${columns}_idx\d*`;

describePlans(() => deliveryList(house, 'goal'), statements, [
  ['', 'open_delivery_pkey'],
  ['', ended('id')],
  ['subscriptionId', 'open_delivery_subscription'],
  ['subscriptionId', ended('subscr')],
]);

describePlans(() => deliveryList(house, 'cause'), statements, [
  ['eventType', ended('event')],
  ['resendId', 'open_delivery_resend'],
  ['resendId', ended('resend')],
  ['createdFrom', ended('id')],
]);
