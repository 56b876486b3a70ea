import { Type } from 'typebox';
import {
  RefundCaseService,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { listDownload, streamed } from '../exports/csv-download.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { REFUND_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeFaults, dateRangeOf, fileName, isFaulty } from '../funds/date-range.ts';
import { Failure } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { filterParameter } from '../shell/query-form.ts';
import { STATES } from './refund-case.components.ts';

const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;

const query = Type.Object({
  /** Of the request. */
  from: filterParameter,
  to: filterParameter,
  status: filterParameter,
  initiator: filterParameter,
  format: formatParameter,
});

/** /refunds.csv: refund cases as a file, newest first; those of every status without one. */
export function refundDownload({ pages, clients }: FeatureDependencies): void {
  const rpc = RefundCaseService.method.exportRefundCases;
  pages.download({ path: '/refunds.csv', rpc, section: 'refunds', query }, async (view, { query }) => {
    const { from = '', to = '', format } = query;
    const range = { from, to };
    if (isFaulty(dateRangeFaults(view, range))) throw Failure.of(400, 'badRequest');
    const state = STATES.find((name) => name === query.status);
    const initiator = INITIATORS.find((name) => name === query.initiator);
    const request = {
      ...view.tenant,
      ...dateRangeOf(range),
      ...(state && { status: RefundCaseStatus[state] }),
      ...(initiator && { initiator: RefundInitiator[initiator] }),
    };
    return listDownload(`${fileName('refunds', range)}.csv`, REFUND_COLUMNS, format, () =>
      streamed(
        view,
        (call) => clients.refundCases.exportRefundCases(request, call),
        ({ refundCases }) => refundCases,
      ),
    );
  });
}
