import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { eventList } from './event-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('webhooks', statements);
});
afterAll(() => harness.close());

describeList('ListEvents', () => eventList(harness));

const taken = (index: string) => String.raw`event_live_\d+_${index}`;

describePlans(() => eventList(harness), statements, [
  ['', taken('pkey')],
  ['type', taken('merchant_id_environment_type_id_idx')],
  ['objectId', taken('merchant_id_environment_object_id_id_idx')],
  ['requestId', taken('merchant_id_environment_request_id_id_idx')],
  ['publishedFrom', taken('pkey')],
]);
