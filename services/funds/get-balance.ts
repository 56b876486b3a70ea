import type { GetBalanceRequest, GetBalanceResponse } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { within64Bits } from '../platform/within-64-bits.ts';
import { availableMinor } from './allocation.ts';
import { selectBalance } from './funds.queries.ts';

/** The available balance and its components, read in one statement. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE). */
export async function getBalance(
  database: Database,
  request: GetBalanceRequest,
): Promise<GetBalanceResponse> {
  const row = await database.readOne(selectBalance(tenantOf(request)));
  if (!row) throw new Error('the sums of an account were not returned');
  const released = BigInt(row.released_minor);
  const debts = BigInt(row.open_debts_minor);
  return {
    $typeName: 'payments.funds.v1.GetBalanceResponse',
    availableAmountMinor: within64Bits(availableMinor(released, debts)),
    releasedAmountMinor: within64Bits(released),
    scheduledAmountMinor: within64Bits(BigInt(row.scheduled_minor)),
    blockedAmountMinor: within64Bits(BigInt(row.blocked_minor)),
    openDebtsAmountMinor: within64Bits(debts),
    lastDebtAt: row.last_debt_at ?? undefined,
  };
}
