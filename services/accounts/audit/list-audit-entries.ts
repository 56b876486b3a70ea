import type {
  AuditEntry,
  ListAuditEntriesRequest,
  ListAuditEntriesResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { environmentEnum, tenantOf } from '../../platform/tenant.ts';
import { type AuditEntryReadRow, auditEntryOrder, selectAuditEntries } from './audit.queries.ts';

/** Lists the writes for a merchant in an environment and the sign-ins of its members, newest first by id. */
export async function listAuditEntries(
  pagination: Pagination,
  request: ListAuditEntriesRequest,
): Promise<ListAuditEntriesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    accountId: request.accountId?.toLowerCase(),
    peopleOnly: request.peopleOnly || undefined,
  };
  const scope = { tenant, list: 'audit-entries', filters, order: auditEntryOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectAuditEntries({ ...tenant, ...filters, ...range }),
  );
  return {
    $typeName: 'payments.accounts.v1.ListAuditEntriesResponse',
    entries: page.rows.map(auditEntryMessage),
    nextPageToken: page.nextPageToken,
  };
}

function auditEntryMessage(row: AuditEntryReadRow): AuditEntry {
  return {
    $typeName: 'payments.accounts.v1.AuditEntry',
    id: row.id,
    environment: environmentEnum(row.environment),
    accountId: row.account_id ?? '',
    accountEmail: row.account_email ?? '',
    action: row.action,
    request: row.request ?? undefined,
    ipAddress: row.ip_address,
    requestId: row.request_id,
    occurredAt: row.occurred_at,
    caller: row.caller,
    startedBy: row.started_by ?? '',
    accountName: row.account_name ?? '',
  };
}
