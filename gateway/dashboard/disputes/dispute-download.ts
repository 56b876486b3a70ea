import { Type } from 'typebox';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { DISPUTE_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeOf, dateRangeParameters, fileName, requireValidRange } from '../funds/date-range.ts';
import { streamed } from '../shell/downloads.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { filterFields, filterParameters, filtersOf } from './dispute-filters.ts';

const query = Type.Object({
  /** Dates of the opening. */
  ...dateRangeParameters,
  ...filterParameters,
  format: formatParameter,
});

/** /disputes.csv: disputes as a file, in the order of the list; those of every status without one. */
export function disputeDownload({ pages, clients }: FeatureDependencies): void {
  const rpc = RefundCaseService.method.exportDisputes;
  pages.download({ path: '/disputes.csv', rpc, section: 'disputes', query }, async (view, { query }) => {
    const { from = '', to = '', format } = query;
    const range = { from, to };
    requireValidRange(view, range);
    const request = { ...view.tenant, ...dateRangeOf(range), ...filterFields(filtersOf(query)) };
    return listDownload(`${fileName('disputes', range)}.csv`, DISPUTE_COLUMNS, format, () =>
      streamed(
        view,
        (call) => clients.refundCases.exportDisputes(request, call),
        ({ disputes }) => disputes,
      ),
    );
  });
}
