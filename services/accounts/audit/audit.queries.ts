import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { type AccountTables, db } from '../accounts.tables.ts';

/** An entry of the audit trail as hot reads return it, with the email address of its account. */
export interface AuditEntryReadRow extends Omit<AccountTables['platform.audit_entry'], 'merchant_id'> {
  /** Null when the account does not exist. */
  account_email: string | null;
  account_name: string | null;
}

/** The audit trail is listed newest first: ids are ordered by time. */
export const auditEntryOrder: ListOrder<AuditEntryReadRow> = { columns: ['id'], direction: 'desc' };

interface AuditTrailPage extends Tenant, PageRange {
  readonly accountId: string | undefined;
  /** Only entries that name a person. */
  readonly peopleOnly: true | undefined;
}

/** A page of the audit trail in list order. */
export const selectAuditEntries = prepareRead<AuditTrailPage, AuditEntryReadRow>((parameters) => {
  let query = db
    .selectFrom('platform.audit_entry as e')
    .leftJoin('accounts.account as a', 'a.id', 'e.account_id')
    .where('e.merchant_id', '=', parameters('merchantId'))
    .where('e.environment', '=', parameters('environment'))
    .select(['e.id', 'e.environment', 'e.account_id', 'a.email as account_email', 'e.action', 'e.request'])
    .select('a.name as account_name')
    .select(['e.ip_address', 'e.request_id', 'e.occurred_at', 'e.caller', 'e.started_by']);
  // Ordering by the account as well forces the index by account. Otherwise the planner may choose another one for some partitions,
  // and a page reads all their entries where the account has none. With `=` instead of a range, it would drop that order.
  if (parameters.has('accountId')) {
    query = query
      .where('e.account_id', '>=', parameters('accountId'))
      .where('e.account_id', '<=', parameters('accountId'))
      .orderBy('e.account_id');
  }
  if (parameters.has('peopleOnly')) query = query.where('e.account_id', 'is not', null);
  return inOrder(query, auditEntryOrder, parameters, 'e').compile();
});
