import { Type } from 'typebox';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { listDownload } from '../exports/csv-download.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { ADVANCE_COLUMNS } from '../exports/list-columns.ts';
import { dateRangeFaults, dateRangeOf, fileName, isFaulty } from '../funds/date-range.ts';
import { streamed } from '../shell/downloads.ts';
import { Failure } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { filterParameter } from '../shell/query-form.ts';

const query = Type.Object({
  /** Dates of the request. */
  from: filterParameter,
  to: filterParameter,
  format: formatParameter,
});

/** /advances.csv: advance requests as a file, newest first. */
export function advanceDownload({ pages, clients }: FeatureDependencies): void {
  const rpc = AdvanceService.method.exportAdvanceRequests;
  pages.download({ path: '/advances.csv', rpc, section: 'advances', query }, async (view, { query }) => {
    const { from = '', to = '', format } = query;
    const range = { from, to };
    if (isFaulty(dateRangeFaults(view, range))) throw Failure.of(400, 'badRequest');
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
