import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { auditEntryList } from './audit-entry-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('accounts', statements);
});
afterAll(() => harness.close());

describeList('ListAuditEntries', () => auditEntryList(harness));

describePlans(
  () => auditEntryList(harness),
  statements,
  [
    ['', 'audit_entry_pkey'],
    ['accountId', 'audit_entry_account'],
  ],
  'platform.audit_entry',
);
