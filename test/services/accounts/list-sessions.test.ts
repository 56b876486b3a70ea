import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { sessionList } from './session-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('accounts', statements);
});
afterAll(() => harness.close());

describeList('ListSessions', () => sessionList(harness));

describePlans(() => sessionList(harness), statements, [['', 'session_newest']]);
