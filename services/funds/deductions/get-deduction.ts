import type {
  GetDeductionRequest,
  GetDeductionResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectDeduction } from './deduction.queries.ts';

/** The amount deducted for a source, such as a lost dispute. NOT_FOUND (DEDUCTION_NOT_FOUND). */
export async function getDeduction(
  database: Database,
  request: GetDeductionRequest,
): Promise<GetDeductionResponse> {
  const row = await database.readOne(selectDeduction({ ...tenantOf(request), sourceId: request.sourceId }));
  if (!row) throw notFound('DEDUCTION_NOT_FOUND', 'nothing has been deducted for this source');
  return {
    $typeName: 'payments.funds.v1.GetDeductionResponse',
    amountMinor: row.amount_minor,
    debtAmountMinor: row.debt_minor,
    openDebtAmountMinor: row.open_debt_minor,
    occurredAt: row.occurred_at,
    restoredAmountMinor: row.restored_minor,
    canceledDebtAmountMinor: row.canceled_debt_minor,
    reversedAt: row.reversed_at ?? undefined,
    ...(row.reason !== null && { reason: row.reason }),
  };
}
