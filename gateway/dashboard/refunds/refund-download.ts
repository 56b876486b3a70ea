import { Type } from 'typebox';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { REFUND_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeOf, dateRangeParameters, fileName, requireValidRange } from '../funds/date-range.ts';
import { streamed } from '../shell/downloads.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { choiceParameters, choicesOf, chosenFields } from './refund-filters.ts';

const query = Type.Object({
  /** Dates of the request. */
  ...dateRangeParameters,
  ...choiceParameters,
  format: formatParameter,
});

/** /refunds.csv: refund cases as a file, newest first; those of every status without one. */
export function refundDownload({ pages, clients }: FeatureDependencies): void {
  const rpc = RefundCaseService.method.exportRefundCases;
  pages.download({ path: '/refunds.csv', rpc, section: 'refunds', query }, async (view, { query }) => {
    const { from = '', to = '', format } = query;
    const range = { from, to };
    requireValidRange(view, range);
    const request = { ...view.tenant, ...dateRangeOf(range), ...chosenFields(choicesOf(query)) };
    return listDownload(`${fileName('refunds', range)}.csv`, REFUND_COLUMNS, format, () =>
      streamed(
        view,
        (call) => clients.refundCases.exportRefundCases(request, call),
        ({ refundCases }) => refundCases,
      ),
    );
  });
}
