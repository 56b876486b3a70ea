import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { auditEntryList } from './audit-entry-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('accounts', statements);
});
afterAll(() => house.close());

describeList('ListAuditEntries', () => auditEntryList(house));

describePlans(() => auditEntryList(house), statements, [
  ['', 'audit_entry_pkey'],
  ['accountId', 'audit_entry_account'],
]);
