import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { ProviderOutcome, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { hoursAgo } from '../../../support/ago.ts';
import { startHarness } from '../../../support/harness.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const harness = await startHarness({ REFUND_FREQUENCY_LIMIT_24H: '100000' });
afterAll(() => harness.close());

const outcomesOf = (settled: readonly PromiseSettledResult<unknown>[]) =>
  settled
    .map((one) =>
      one.status === 'fulfilled' ? 'OK' : (errorInfoOf(one.reason)?.reason ?? String(one.reason)),
    )
    .sort();

describe('concurrent requests', () => {
  it('open cases of a new payment up to the amount paid', async () => {
    const { open, refunds, tenant } = refundsOf(harness);
    const paidAt = hoursAgo(1);
    const payment = { paymentIntentId: randomUUID(), paidAmountMinor: 5_000n, paidAt };
    // As many as there are connections: a call does not wait long for one.
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, () => open({ ...payment, amountMinor: 300n })),
    );
    expect(outcomesOf(all).filter((outcome) => outcome === 'OK')).toHaveLength(16);
    expect(new Set(outcomesOf(all))).toEqual(new Set(['OK', 'REFUND_EXCEEDS_PAYMENT']));
    const { refundCases } = await refunds.listRefundCases({ ...tenant, pageSize: 50 });
    expect(refundCases).toHaveLength(16);
  });

  it('make each transition of a case once', async () => {
    const { open, refunds, tenant, write, start } = refundsOf(harness);
    const { id: refundCaseId } = await open({ initiator: RefundInitiator.MERCHANT });
    const all = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        n % 2 ? start(refundCaseId) : refunds.cancelRefundCase({ ...write(), refundCaseId }),
      ),
    );
    for (const outcome of outcomesOf(all)) expect(outcome).toMatch(/^[A-Z_]+$/);
    const done = all.filter(({ status }) => status === 'fulfilled').length;
    expect(done).toBeGreaterThanOrEqual(1);
    const failing = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.FAILED }),
      ),
    );
    for (const outcome of outcomesOf(failing)) expect(outcome).toMatch(/^[A-Z_]+$/);
    const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
    expect(refundCase!.blockedBy).toEqual([]);
  });
});
