import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { eventList } from './event-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('webhooks', statements);
});
afterAll(() => house.close());

describeList('ListEvents', () => eventList(house));

const taken = (index: string) => String.raw`event_live_\d+_${index}`;

describePlans(() => eventList(house), statements, [
  ['', taken('pkey')],
  ['type', taken('merchant_id_environment_type_id_idx')],
  ['objectId', taken('merchant_id_environment_object_id_id_idx')],
  ['requestId', taken('merchant_id_environment_request_id_id_idx')],
  ['publishedFrom', taken('pkey')],
]);
