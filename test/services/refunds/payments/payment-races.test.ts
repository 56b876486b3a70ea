import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ProviderOutcome, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { hoursAgo } from '../../../support/ago.ts';
import { startHarness } from '../../../support/harness.ts';
import { lockWaits, openSession, sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../../funds/funds-caller.ts';
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

  it('take the amount of the sale that the payment has by then', async () => {
    const { open, refunds, tenant, write } = refundsOf(harness);
    const [disputed, paid, paymentIntentId] = [randomUUID(), randomUUID(), randomUUID()];
    await fundsCaller(harness.transports.inProcess, tenant).sell({ gross: 1_000n, saleId: disputed });
    const disputeId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId, saleId: disputed, amountMinor: 1n });
    const paidAt = hoursAgo(1);
    await using other = await openSession(harness.databaseUrl);
    await other.query('begin');
    await other.query('select from refunds.payment where id = $1 for update', [paymentIntentId]);
    const opening = open({ paymentIntentId, amountMinor: 100n, paidAt });
    await vi.waitFor(async () => expect(await lockWaits(harness)).toHaveLength(1));
    // The payment's first refund case names a sale that is not recorded.
    const facts = `update refunds.payment set sale_id = $2, paid_amount_minor = 5000, paid_at = $3, refund_window_days = 30
      where id = $1`;
    await other.query(facts, [paymentIntentId, paid, timestampDate(paidAt)]);
    await other.query('commit');
    expect((await opening).saleId).toBe(paid);
    const stored = 'select sale_id, sale_amount_minor from refunds.payment where id = $1';
    expect(await sqlOf(harness, stored, [paymentIntentId])).toEqual([
      { sale_id: paid, sale_amount_minor: null },
    ]);
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
