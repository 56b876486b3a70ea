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
    ['', String.raw`audit_entry_\d+_pkey`],
    ['accountId', String.raw`audit_entry_\d+_merchant_id_environment_account_id_id_idx`],
  ],
  'platform.audit_entry',
);
