import { sql } from 'kysely';
import { prepareRead } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import { columnsOf } from '../platform/reads/read-table.ts';
import { inScanOrder, type RecordScan } from '../platform/reads/record-scan.ts';
import type { DisputeReadRow } from './disputes/dispute.queries.ts';
import { DisputeEntity, RefundCaseEntity } from './refund-case.entity.ts';
import type { RefundCaseReadRow } from './refund-case.queries.ts';
import { OPEN_STATUSES, type RefundStatus } from './refund-case.ts';

const db = queryBuilder<{ 'refunds.refund_case': RefundCaseReadRow; 'refunds.dispute': DisputeReadRow }>();

/** Pages of the cases in some states. Literals, not parameters: only then does the planner use the partial index. */
function selectCases(statuses: readonly RefundStatus[]) {
  const literals = statuses.map((status) => sql.lit(status));
  return prepareRead<RecordScan, RefundCaseReadRow>((parameters) => {
    const cases = db
      .selectFrom('refunds.refund_case')
      .where(sql<boolean>`status in (${sql.join(literals)})`)
      .select(columnsOf(RefundCaseEntity));
    return inScanOrder(cases, 'id', parameters).compile();
  });
}

export const selectOpenCases = selectCases(OPEN_STATUSES);
export const selectDebitedCases = selectCases(['PROCESSING', 'SUCCEEDED']);
export const selectUnfundedCases = selectCases(['FUNDING_REQUIRED']);

/** Pages of all disputes. */
export const selectAllDisputes = prepareRead<RecordScan, DisputeReadRow>((parameters) =>
  inScanOrder(db.selectFrom('refunds.dispute').select(columnsOf(DisputeEntity)), 'id', parameters).compile(),
);
