import type { GetBalanceRequest, GetBalanceResponse } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../platform/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { selectBalance } from './funds.queries.ts';
import { availableMinor } from './takings.ts';

/** The available balance and what it is made of, in one statement. */
export async function getBalance(
  database: Database,
  request: GetBalanceRequest,
): Promise<GetBalanceResponse> {
  const [row] = await database.read(selectBalance(tenantOf(request)));
  if (!row) throw new Error('a sum has a row');
  return {
    $typeName: 'payments.funds.v1.GetBalanceResponse',
    availableAmountMinor: availableMinor(row.released_minor, row.open_debts_minor),
    releasedAmountMinor: row.released_minor,
    scheduledAmountMinor: row.scheduled_minor,
    blockedAmountMinor: row.blocked_minor,
    openDebtsAmountMinor: row.open_debts_minor,
  };
}
