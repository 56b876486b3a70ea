import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  DisputeOutcome,
  ProviderOutcome,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TestProvider } from '../../support/provider-server.ts';
import { eventually, merchantOf, type startRefundHarness } from '../refunds/refund-harness.ts';

export type AreaHarness = Awaited<ReturnType<typeof startRefundHarness>>;

/** The records of {@link playAreas}, by id. */
export type AreaBooks = Awaited<ReturnType<typeof playAreas>>;

/**
 * A merchant with a record of everything that the check compares, each as it should be: refunds that are processing,
 * have succeeded, have failed and await funding; holds of an open case, of an open dispute and of other teams; disputes
 * that were lost for a part, for the rest and for more than the rest of a sale; advances that are released, approved and
 * refused.
 */
export async function playAreas({ harness }: AreaHarness, provider: TestProvider) {
  const merchant = merchantOf(harness);
  const { funds, refunds, open, write, approved, earn, becomes, record } = merchant;
  const saleId = await earn(100_000n);
  const [processing, succeeded, failed] = [
    await approved(400n, saleId),
    await approved(500n),
    await approved(600n),
  ];
  for (const id of [processing, succeeded, failed]) await becomes(id, Status.PROCESSING);
  await record(succeeded, ProviderOutcome.SUCCEEDED);
  await record(failed, ProviderOutcome.FAILED);
  const unfunded = await approved(9_000_000n);
  await becomes(unfunded, Status.FUNDING_REQUIRED);

  const reviewedSale = await earn(2_000n);
  const { id: reviewed } = await open({ amountMinor: 300n, paidAmountMinor: 2_000n, saleId: reviewedSale });
  const canceledSale = await earn(2_000n);
  const { id: canceled } = await open({ amountMinor: 300n, paidAmountMinor: 2_000n, saleId: canceledSale });
  await refunds.cancelRefundCase({ ...write(), refundCaseId: canceled });
  const dispute = await merchant.dispute(randomUUID(), await earn(3_000n));
  const lost = async (amountMinor?: bigint) => {
    const disputeId = await merchant.dispute(randomUUID(), await earn(3_000n), amountMinor);
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    return disputeId;
  };
  const [lostPart, lostRest, lostMore] = [await lost(1_000n), await lost(), await lost(5_000n)];
  const heldSale = await earn(4_000n);
  await funds.block(heldSale, randomUUID(), BlockReason.HOLD_OR_DISPUTE, undefined, 100n);
  await funds.block(heldSale, randomUUID(), BlockReason.KYC_PENDING, undefined, 100n);
  await funds.block(heldSale, randomUUID(), BlockReason.COMPLIANCE_HOLD, undefined, 100n);

  const advances = createClient(AdvanceService, harness.transports.inProcess);
  await funds.sell({ gross: 30_000n, installments: 3 });
  const request = async () => {
    const { quote } = await advances.quoteAdvance({ ...write(), maxAmountMinor: 10_000n });
    const { advanceRequest } = await advances.requestAdvance({ ...write(), quoteId: quote!.id });
    return advanceRequest!.id;
  };
  const [released, held, refused] = [await request(), await request(), await request()];
  for (const advanceRequestId of [released, held])
    await advances.approveAdvance({ ...write(), advanceRequestId });
  provider.payout(released, () => ({ result: { case: 'accepted', value: { providerPayoutId: 'po_1' } } }));
  await advances.releaseAdvance({ ...write(), advanceRequestId: released });
  await advances.refuseAdvance({ ...write(), advanceRequestId: refused, reason: 'not this time' });

  const disputes = { dispute, lostPart, lostRest, lostMore };
  const books = { merchant, processing, succeeded, unfunded, reviewed, ...disputes, released, held };
  await eventually(async () => {
    const { advanceRequest } = await advances.getAdvanceRequest({
      ...merchant.tenant,
      advanceRequestId: released,
    });
    if (!advanceRequest?.payout?.acceptedAt) throw new Error('the payout is not accepted yet');
  });
  return books;
}
