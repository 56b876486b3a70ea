import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { apiKeyList } from './api-key-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('api-keys', statements);
});
afterAll(() => harness.close());

describeList('ListApiKeys', () => apiKeyList(harness));

describePlans(() => apiKeyList(harness), statements, [['', 'api_key_newest']]);
