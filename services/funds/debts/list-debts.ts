import type {
  Debt,
  ListDebtsRequest,
  ListDebtsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { type DebtReadRow, debtOrder, selectDebts } from './debt.queries.ts';

/** A page of open debts, oldest first by (occurred_at, source_id). */
export async function listDebts(
  pagination: Pagination,
  request: ListDebtsRequest,
): Promise<ListDebtsResponse> {
  const tenant = tenantOf(request);
  const scope = { tenant, list: 'debts', filters: {}, order: debtOrder };
  const page = await pagination.list(scope, request, (range) => selectDebts({ ...tenant, ...range }));
  return {
    $typeName: 'payments.funds.v1.ListDebtsResponse',
    debts: page.rows.map(debtMessage),
    nextPageToken: page.nextPageToken,
  };
}

export function debtMessage(row: DebtReadRow): Debt {
  return {
    $typeName: 'payments.funds.v1.Debt',
    sourceId: row.source_id,
    ...(row.sale_id !== null && { saleId: row.sale_id }),
    amountMinor: row.amount_minor,
    openAmountMinor: row.open_debt_minor,
    occurredAt: row.occurred_at,
    raisedAt: row.raised_at ?? undefined,
    ...(row.reason !== null && { reason: row.reason }),
  };
}
