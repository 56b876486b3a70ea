import { Type } from 'typebox';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { ADVANCE_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeOf, dateRangeParameters, fileName, requireValidRange } from '../funds/date-range.ts';
import { streamed } from '../shell/downloads.ts';
import type { FeatureDependencies } from '../shell/feature.ts';

const query = Type.Object({
  /** Dates of the request. */
  ...dateRangeParameters,
  format: formatParameter,
});

/** /advances.csv: advance requests as a file, newest first. */
export function advanceDownload({ pages, clients }: FeatureDependencies): void {
  const rpc = AdvanceService.method.exportAdvanceRequests;
  pages.download({ path: '/advances.csv', rpc, section: 'advances', query }, async (view, { query }) => {
    const { from = '', to = '', format } = query;
    const range = { from, to };
    requireValidRange(view, range);
    const request = { ...view.tenant, ...dateRangeOf(range) };
    return listDownload(`${fileName('advances', range)}.csv`, ADVANCE_COLUMNS, format, () =>
      streamed(
        view,
        (call) => clients.advances.exportAdvanceRequests(request, call),
        ({ advanceRequests }) => advanceRequests,
      ),
    );
  });
}
