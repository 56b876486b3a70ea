import type {
  AdvanceExposure,
  AdvanceReference,
  GetAdvanceExposuresRequest,
  GetAdvanceExposuresResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { fits64Bits } from '../../platform/within-64-bits.ts';
import { availableMinor } from '../allocation.ts';
import { selectAdvanceExposure } from './advance-exposure.queries.ts';

/** More statements at once would take all connections for reads, and other reads would wait. */
const MAX_AT_ONCE = 8;

/**
 * The debts of merchants with reserved advances, and the open blocks of the sales that these cover. Omits merchants
 * whose sums exceed 64 bits, so that the others stay readable. Runs one statement per advance, which reads only its
 * merchant's rows.
 */
export async function getAdvanceExposures(
  database: Database,
  { advances }: GetAdvanceExposuresRequest,
): Promise<GetAdvanceExposuresResponse> {
  const exposures: (AdvanceExposure | undefined)[] = [];
  for (let first = 0; first < advances.length; first += MAX_AT_ONCE) {
    const some = advances.slice(first, first + MAX_AT_ONCE);
    exposures.push(...(await Promise.all(some.map((advance) => exposureOf(database, advance)))));
  }
  return {
    $typeName: 'payments.funds.v1.GetAdvanceExposuresResponse',
    exposures: exposures.filter((exposure) => exposure !== undefined),
  };
}

async function exposureOf(
  database: Database,
  advance: AdvanceReference,
): Promise<AdvanceExposure | undefined> {
  const { advanceRequestId } = advance;
  // Not readOne, which may share a connection with other reads: sums can take long.
  const [row] = await database.read(selectAdvanceExposure({ ...tenantOf(advance), advanceRequestId }));
  if (!row) throw new Error('the sums of an account were not returned');
  const openDebtsAmountMinor = BigInt(row.open_debts_minor);
  const availableAmountMinor = availableMinor(BigInt(row.released_minor), openDebtsAmountMinor);
  if (!fits64Bits(openDebtsAmountMinor) || !fits64Bits(availableAmountMinor)) return undefined;
  return {
    $typeName: 'payments.funds.v1.AdvanceExposure',
    advanceRequestId,
    availableAmountMinor,
    openDebtsAmountMinor,
    disputeIds: row.dispute_ids,
    kycPending: row.other_holds.includes('KYC_PENDING'),
    complianceHold: row.other_holds.includes('COMPLIANCE_HOLD'),
  };
}
