import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { memberList } from './member-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('accounts', statements);
});
afterAll(() => harness.close());

describeList('ListMembers', () => memberList(harness));

describePlans(() => memberList(harness), statements, [['', 'member_oldest']]);
