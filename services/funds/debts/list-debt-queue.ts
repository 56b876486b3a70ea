import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  DebtAction,
  type DebtQueueItem,
  type ListDebtQueueRequest,
  type ListDebtQueueResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOfRow } from '../../platform/tenant.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import { accountMessage } from '../account-pages.ts';
import { type DebtReadRow, debtOrder, selectDebtQueue } from './debt.queries.ts';
import { debtMessage } from './list-debts.ts';

/**
 * A page of the open debts of all merchants whose available balance is negative, oldest first, with what is to be done
 * next.
 * @param dueAfterMs how long sales are awaited.
 */
export async function listDebtQueue(
  pagination: Pagination,
  dueAfterMs: number,
  request: ListDebtQueueRequest,
): Promise<ListDebtQueueResponse> {
  const filters = { ...merchantFilterOf(request) };
  const scope = { list: 'debt-queue', filters, order: debtOrder };
  const page = await pagination.list(scope, request, (range) => selectDebtQueue({ ...filters, ...range }));
  return {
    $typeName: 'payments.funds.v1.ListDebtQueueResponse',
    items: page.rows.map((row) => itemOf(row, dueAfterMs)),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: DebtReadRow, dueAfterMs: number): DebtQueueItem {
  const dueAtMs = timestampDate(row.occurred_at).getTime() + dueAfterMs;
  return {
    $typeName: 'payments.funds.v1.DebtQueueItem',
    account: accountMessage(tenantOfRow(row)),
    debt: debtMessage(row),
    nextAction: DebtAction[dueAtMs <= Date.now() ? 'COLLECT_PAYMENT' : 'AWAIT_SALES'],
    waitingSince: row.occurred_at,
    dueAt: timestampOf(new Date(dueAtMs)),
  };
}
