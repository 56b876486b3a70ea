import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { invitationList } from './invitation-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('accounts', statements);
});
afterAll(() => harness.close());

describeList('ListInvitations', () => invitationList(harness));

describePlans(() => invitationList(harness), statements, [['', 'invitation_newest']]);
