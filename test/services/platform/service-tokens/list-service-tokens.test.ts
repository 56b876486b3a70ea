import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../../support/list-suite.ts';
import { serviceTokenList } from './service-token-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('catalog', statements);
});
afterAll(() => harness.close());

describeList('ListServiceTokens', () => serviceTokenList(harness));

describePlans(() => serviceTokenList(harness), statements, [['', 'service_token_caller']]);
