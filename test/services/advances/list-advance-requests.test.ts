import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { advanceRequestList } from './advance-request-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('funds,advances', statements);
});
afterAll(() => harness.close());

describeList('ListAdvanceRequests', () => advanceRequestList(harness));

describePlans(() => advanceRequestList(harness), statements, [['', 'request_newest']]);
