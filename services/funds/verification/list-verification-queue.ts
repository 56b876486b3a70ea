import {
  FundsInvariant,
  FundsVerificationFailureCause,
  type ListVerificationQueueRequest,
  type ListVerificationQueueResponse,
  VerificationAction,
  type VerificationQueueItem,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import {
  type MerchantFilter,
  matchingMerchant,
  merchantFilterOf,
} from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import { tenantOfRow } from '../../platform/tenant.ts';
import { accountMessage } from '../account-pages.ts';
import { FailingAccountEntity } from './failing-account.entity.ts';

type FailingAccountReadRow = ReadTable<typeof FailingAccountEntity>;

const db = queryBuilder<{ 'funds.failing_account': FailingAccountReadRow }>();

/** Failing accounts are listed longest failing first. */
const order: ListOrder<FailingAccountReadRow> = { columns: ['failing_since', 'id'], direction: 'asc' };

const selectFailingAccounts = prepareRead<MerchantFilter & PageRange, FailingAccountReadRow>((parameters) => {
  const accounts = matchingMerchant(
    db.selectFrom('funds.failing_account').select(columnsOf(FailingAccountEntity)),
    parameters,
  );
  return inOrder(accounts, order, parameters).compile();
});

/** A page of accounts of all merchants that fail their verification, longest failing first. */
export async function listVerificationQueue(
  pagination: Pagination,
  request: ListVerificationQueueRequest,
): Promise<ListVerificationQueueResponse> {
  const filters = { ...merchantFilterOf(request) };
  const scope = { list: 'verification-queue', filters, order };
  const page = await pagination.list(scope, request, (range) =>
    selectFailingAccounts({ ...filters, ...range }),
  );
  return {
    $typeName: 'payments.funds.v1.ListVerificationQueueResponse',
    items: page.rows.map(itemOf),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: FailingAccountReadRow): VerificationQueueItem {
  const { cause } = row;
  return {
    $typeName: 'payments.funds.v1.VerificationQueueItem',
    account: accountMessage(tenantOfRow(row)),
    nextAction: VerificationAction[cause === null ? 'CORRECT_ACCOUNT' : 'VERIFY_AGAIN'],
    waitingSince: row.failing_since,
    verifiedAt: row.verified_at,
    differences: row.differences,
    invariants: row.invariants.map((invariant) => FundsInvariant[invariant]),
    cause: FundsVerificationFailureCause[cause ?? 'UNSPECIFIED'],
  };
}
