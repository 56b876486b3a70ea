import { randomUUID } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import { expect, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DisputeOutcome,
  ProviderOutcome,
  RefundCaseService,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as dailyRelease from '../../../workflows/funds/daily-release.contract.ts';
import { seedMerchant } from '../../gateway/seed-merchant.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { newTenant } from '../../support/harness.ts';
import { accepted, failing, type TestProvider } from '../../support/provider-server.ts';
import type { SeparateSystem } from './separate-system.ts';

/** A due sale of 300, a refund of 400 of a sale of 1,000, and a dispute about a sale of 500, of a new merchant. */
export async function beginMoneyFlows({ transport, temporal }: SeparateSystem, provider: TestProvider) {
  const tenant = newTenant(Environment.TEST);
  const funds = fundsCaller(transport, tenant);
  const refunds = createClient(RefundCaseService, transport);
  const { merchantId, environment } = tenant;
  await funds.sell({ on: '2024-10-21', gross: 300n });
  const { saleId } = await funds.sell({ gross: 1_000n, instant: true });
  const disputed = await funds.sell({ gross: 500n, instant: true });
  const seed = seedMerchant(transport, merchantId, environment);
  const { id: refundCaseId } = await seed.refundCase({ amountMinor: 400n, paidAmountMinor: 1_000n, saleId });
  const fails = failing(Code.Unavailable);
  provider.refund(refundCaseId, fails, fails, accepted);
  const disputeId = randomUUID();
  const payment = { paymentIntentId: randomUUID(), saleId: disputed.saleId };
  await refunds.openDispute({ ...funds.write(), disputeId, ...payment });
  await temporal.client.schedule.getHandle(dailyRelease.scheduleId).trigger();
  return {
    /** Ends the refund and loses the dispute; waits until each of them, and the daily release, has moved its money. */
    async end(timeout: number) {
      const soon = { timeout, interval: 100 };
      const balanceIs = (availableAmountMinor: bigint, blockedAmountMinor: bigint) =>
        vi.waitFor(
          async () =>
            expect(await funds.balance()).toMatchObject({ availableAmountMinor, blockedAmountMinor }),
          soon,
        );
      const refundCase = async () => (await refunds.getRefundCase({ ...tenant, refundCaseId })).refundCase!;
      await vi.waitFor(async () => expect((await refundCase()).provider?.refundId).toBeTruthy(), soon);
      await balanceIs(900n, 500n);
      const outcome = ProviderOutcome.SUCCEEDED;
      await refunds.recordProviderOutcome({ ...funds.write(), refundCaseId, outcome });
      await refunds.closeDispute({ ...funds.write(), disputeId, outcome: DisputeOutcome.LOST });
      await balanceIs(900n, 0n);
      expect((await refundCase()).status).toBe(RefundCaseStatus.SUCCEEDED);
      expect(new Set(provider.callsOf(refundCaseId).map(({ reference }) => reference)).size).toBe(1);
      expect(await funds.client.verifyFunds(tenant)).toMatchObject({ differences: [], failures: [] });
    },
  };
}
