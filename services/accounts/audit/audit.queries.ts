import { inOrder, type ListOrder, type PageSpec } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { type AccountTables, db } from '../accounts.tables.ts';

/** An entry of the audit log as hot reads return it, with the email address of its account. */
export interface AuditEntryReadRow extends Omit<AccountTables['platform.audit_entry'], 'merchant_id'> {
  /** Null when the account does not exist. */
  account_email: string | null;
}

/** The audit log is listed newest first: ids are ordered by time. */
export const auditEntryOrder: ListOrder<AuditEntryReadRow> = { columns: ['id'], direction: 'desc' };

interface AuditLogPage extends Tenant, PageSpec {
  readonly accountId: string | undefined;
}

/** A page of the audit log in list order. */
export const selectAuditEntries = prepareRead<AuditLogPage, AuditEntryReadRow>((parameters) => {
  let query = db
    .selectFrom('platform.audit_entry as e')
    .leftJoin('accounts.account as a', 'a.id', 'e.account_id')
    .where('e.merchant_id', '=', parameters('merchantId'))
    .where('e.environment', '=', parameters('environment'))
    .select(['e.id', 'e.environment', 'e.account_id', 'a.email as account_email', 'e.action', 'e.request'])
    .select(['e.ip_address', 'e.request_id', 'e.occurred_at']);
  if (parameters.has('accountId')) query = query.where('e.account_id', '=', parameters('accountId'));
  return inOrder(query, auditEntryOrder, parameters, 'e').compile();
});
