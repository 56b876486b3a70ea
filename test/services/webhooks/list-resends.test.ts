import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { resendList } from './resend-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('webhooks', statements);
});
afterAll(() => harness.close());

describeList('ListResends', () => resendList(harness));

describePlans(
  () => resendList(harness),
  statements,
  [
    ['', 'resend_pkey'],
    ['state', 'resend_state'],
  ],
  'webhooks.resend',
);
