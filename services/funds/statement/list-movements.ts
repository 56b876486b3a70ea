import type {
  ListMovementsRequest,
  ListMovementsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { ACCOUNT_TIME_ZONE } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { dateRangeOf } from '../../platform/reads/date-range.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { onOwnConnection } from '../../platform/reads/prepared-read.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { balancesMessage, balancesOf, movementMessages, totalMessage } from './movement.message.ts';
import {
  type MovementReadRow,
  movementOrder,
  type StatementReadRow,
  selectStatement,
} from './movement.queries.ts';

/** A page of the statement, ascending by (occurred_at, id), with the balances before and after its range. */
export async function listMovements(
  database: Database,
  pagination: Pagination,
  request: ListMovementsRequest,
): Promise<ListMovementsResponse> {
  const tenant = tenantOf(request);
  const range = dateRangeOf(request);
  const totals = request.includeTotals || undefined;
  const scope = { tenant, list: 'movements', filters: { ...range }, order: movementOrder };
  let read: StatementReadRow[] = [];
  const page = await pagination.page(scope, request, async (pageRange) => {
    const statement = selectStatement({ ...tenant, ...range, totals, ...pageRange });
    // Totals sum all movements of the range.
    read = await database.readList(totals ? onOwnConnection(statement) : statement);
    return movementsOf(read);
  });
  const [balances] = read;
  if (!balances) throw new Error('the balances of a statement were not returned');
  return {
    $typeName: 'payments.funds.v1.ListMovementsResponse',
    movements: movementMessages(page.rows, balancesOf(balances.before_page)).movements,
    nextPageToken: page.nextPageToken,
    timezone: ACCOUNT_TIME_ZONE,
    openingBalance: balancesMessage(balancesOf(balances.opening)),
    closingBalance: balancesMessage(balancesOf(balances.closing)),
    totals: (balances.totals ?? []).map(totalMessage).toSorted((one, other) => one.kind - other.kind),
  };
}

/**
 * The movements of a page, sorted, because the join may not keep their order. A page without movements has one row
 * with balances only.
 */
function movementsOf(rows: readonly StatementReadRow[]): MovementReadRow[] {
  return rows.filter((row) => row.id !== null).toSorted((one, other) => one.place - other.place);
}
