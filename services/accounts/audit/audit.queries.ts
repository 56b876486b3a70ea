import type { JsonObject } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../../platform/tenant.ts';
import { db } from '../accounts.tables.ts';

/** An entry of the audit trail as reads answer it. */
export interface AuditEntryReadRow {
  id: string;
  environment: EnvironmentName;
  account_id: string;
  /** Null when there is no such account. */
  account_email: string | null;
  action: string;
  request: JsonObject | null;
  ip_address: string;
  request_id: string;
  occurred_at: Timestamp;
}

/** The audit trail is listed newest first: an id begins with its time. */
export const auditEntryOrder: ListOrder<AuditEntryReadRow> = { columns: ['id'], direction: 'desc' };

interface AuditTrail extends Tenant, PageRange {
  readonly accountId: string | undefined;
}

/** A page of the audit trail in its order. */
export const selectAuditEntries = prepareRead<AuditTrail, AuditEntryReadRow>((parameters) => {
  let query = db
    .selectFrom('platform.audit_entry as e')
    .leftJoin('accounts.account as a', 'a.id', 'e.account_id')
    .where('e.merchant_id', '=', parameters('merchantId'))
    .where('e.environment', '=', parameters('environment'))
    .select(['e.id', 'e.environment', 'e.account_id', 'a.email as account_email', 'e.action', 'e.request'])
    .select(['e.ip_address', 'e.request_id', 'e.occurred_at']);
  if (parameters.has('accountId')) query = query.where('e.account_id', '=', parameters('accountId'));
  return inOrder(query, auditEntryOrder, parameters, 'e').$castTo<AuditEntryReadRow>().compile();
});
