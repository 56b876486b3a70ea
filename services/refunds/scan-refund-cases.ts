import type { HandlerContext } from '@connectrpc/connect';
import {
  RefundCaseScope,
  type ScanRefundCasesRequest,
  type ScanRefundCasesResponse,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../platform/reads/record-scan.ts';
import { refundCaseMessage } from './refund-case.message.ts';
import { selectDebitedCases, selectOpenCases, selectUnfundedCases } from './scan.queries.ts';

/** A page of the cases in some states, in the order of their keys. */
export async function scanRefundCases(
  database: Database,
  request: ScanRefundCasesRequest,
  context: HandlerContext,
): Promise<ScanRefundCasesResponse> {
  const rows = await database.readList(selectionOf(request.scope)(recordScanOf(request, context)));
  return {
    $typeName: 'payments.refunds.v1.ScanRefundCasesResponse',
    refundCases: rows.map(refundCaseMessage),
    next: nextPosition(rows, (row) => row.id),
  };
}

function selectionOf(scope: RefundCaseScope) {
  switch (scope) {
    case RefundCaseScope.OPEN:
      return selectOpenCases;
    case RefundCaseScope.DEBITED:
      return selectDebitedCases;
    case RefundCaseScope.AWAITING_FUNDS:
      return selectUnfundedCases;
    case RefundCaseScope.UNSPECIFIED:
      throw new TypeError('a validated request names its scope');
    default:
      return scope satisfies never;
  }
}
