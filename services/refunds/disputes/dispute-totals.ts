import type { HandlerContext } from '@connectrpc/connect';
import {
  DisputeOutcome,
  type DisputeTotal,
  type ListDisputesRequest,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { sumOf } from '../../platform/amounts.ts';
import { readFor } from '../../platform/rpc/call-context.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { within64Bits } from '../../platform/within-64-bits.ts';
import type { SaleReads } from '../payments/refunded-sale.ts';
import { type DisputeFilter, selectDisputeTotals } from './dispute.queries.ts';

/** The maximum number of sources in a call of GetDeductions. */
const MAX_SOURCES = 1_000;

/** The totals of the disputes that match, by outcome, open ones first. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE). */
export async function disputeTotals(
  { database, funds }: SaleReads,
  request: ListDisputesRequest,
  filters: DisputeFilter & { readonly status: 'OPEN' | 'CLOSED' | undefined },
  context: HandlerContext,
): Promise<DisputeTotal[]> {
  const rows = await database.readList(selectDisputeTotals({ ...tenantOf(request), ...filters }));
  const totals = rows.map(async (row): Promise<DisputeTotal> => {
    const deducted = await deductedBy(funds, request, row.deducting_ids, context);
    return {
      $typeName: 'payments.refunds.v1.DisputeTotal',
      outcome: DisputeOutcome[row.outcome ?? 'UNSPECIFIED'],
      count: BigInt(row.count),
      amountMinor: within64Bits(BigInt(row.amount_minor)),
      deductedAmountMinor: within64Bits(sumOf(deducted.values(), (amount) => amount)),
    };
  });
  return (await Promise.all(totals)).sort((one, other) => one.outcome - other.outcome);
}

/** The amounts deducted for disputes, less what was returned, by dispute id. */
export async function deductedBy(
  funds: SaleReads['funds'],
  { merchantId, environment }: Pick<ListDisputesRequest, 'merchantId' | 'environment'>,
  disputeIds: readonly string[],
  context: HandlerContext,
): Promise<ReadonlyMap<string, bigint>> {
  const deducted = new Map<string, bigint>();
  for (let start = 0; start < disputeIds.length; start += MAX_SOURCES) {
    const sourceIds = disputeIds.slice(start, start + MAX_SOURCES);
    const request = { merchantId, environment, sourceIds };
    const { amountsMinor } = await funds.getDeductions(request, readFor(context));
    for (const [id, amountMinor] of Object.entries(amountsMinor)) deducted.set(id, amountMinor);
  }
  return deducted;
}
