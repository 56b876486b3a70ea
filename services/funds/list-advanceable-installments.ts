import type { HandlerContext } from '@connectrpc/connect';
import type {
  AdvanceablePart,
  ListAdvanceablePartsRequest,
  ListAdvanceablePartsResponse,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt, isCivilDate } from '../platform/civil-date.ts';
import type { Database } from '../platform/database/database.ts';
import { invalidArgument } from '../platform/errors.ts';
import { tenantOf } from '../platform/tenant.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import { selectAdvanceableParts } from './funds.queries.ts';

const MAX_PARTS = 1000;

/** The nearest parts that an advance can cover, and the version of the schedule they are of. */
export async function listAdvanceableParts(
  database: Database,
  request: ListAdvanceablePartsRequest,
  context: HandlerContext,
): Promise<ListAdvanceablePartsResponse> {
  const { toDate: to } = request;
  if (to !== undefined && !isCivilDate(to)) {
    throw invalidArgument('INVALID_ARGUMENT', 'to_date: is not a date of the calendar', { field: 'to_date' });
  }
  const today = civilDateAt(occurredAtOf(request, context));
  const read = selectAdvanceableParts({ ...tenantOf(request), today, to, limit: MAX_PARTS });
  const rows = await database.read(read);
  const parts = rows.flatMap((row): AdvanceablePart[] => {
    if (row.id === null) return [];
    const { id, version, date, left_minor: amountMinor } = row;
    return [{ $typeName: 'payments.funds.v1.AdvanceablePart', id, version, date, amountMinor }];
  });
  return {
    $typeName: 'payments.funds.v1.ListAdvanceablePartsResponse',
    parts,
    scheduleId: rows[0]?.schedule_id ?? '',
    today,
  };
}
