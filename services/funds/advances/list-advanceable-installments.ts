import type { HandlerContext } from '@connectrpc/connect';
import type {
  AdvanceableInstallment,
  ListAdvanceableInstallmentsRequest,
  ListAdvanceableInstallmentsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { requireDate } from '../../platform/reads/date-range.ts';
import { parseAll } from '../../platform/request-faults.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectAdvanceableInstallments } from '../funds.queries.ts';

const MAX_INSTALLMENTS = 1000;

/** The nearest installments that an advance can cover, and the version of the schedule that they belong to. */
export async function listAdvanceableInstallments(
  database: Database,
  request: ListAdvanceableInstallmentsRequest,
  context: HandlerContext,
): Promise<ListAdvanceableInstallmentsResponse> {
  const { toDate: to } = request;
  const [at] = parseAll(
    () => occurredAtOf(request, context),
    () => to !== undefined && requireDate('to_date', to),
  );
  const today = civilDateAt(at);
  const rows = await database.read(
    selectAdvanceableInstallments({ ...tenantOf(request), today, to, limit: MAX_INSTALLMENTS }),
  );
  const installments = rows.flatMap((row): AdvanceableInstallment[] => {
    if (row.id === null) return [];
    const { id, version, date, remaining_minor: amountMinor } = row;
    return [{ $typeName: 'payments.funds.v1.AdvanceableInstallment', id, version, date, amountMinor }];
  });
  return {
    $typeName: 'payments.funds.v1.ListAdvanceableInstallmentsResponse',
    installments,
    scheduleId: rows[0]?.schedule_id ?? '',
    today,
  };
}
