import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import {
  DisputeOutcome,
  ProviderOutcome,
  RefundBlocker,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { minutesAgo } from '../../../support/ago.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { startHarness } from '../../../support/harness.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const harness = await startHarness({ SERVICES: 'refunds,funds', REFUND_FREQUENCY_LIMIT_24H: '1000' });
afterAll(() => harness.close());

it('returns what was refunded and lost of a payment, and what a new case can be opened for without a dispute', async () => {
  const { refunds, tenant, write, open, processing } = refundsOf(harness, 'grpc');
  const saleId = randomUUID();
  const paidAt = minutesAgo(1);
  const facts = { paymentIntentId: randomUUID(), saleId, paidAt, paidAmountMinor: 10_000n };
  const { paymentIntentId } = facts;
  const read = async () => (await refunds.getPayment({ ...tenant, paymentIntentId })).payment!;
  const cancel = (refundCaseId: string) => refunds.cancelRefundCase({ ...write(), refundCaseId });

  /** Checks the amounts, and that OpenRefundCase takes as much as can be refunded, but blocks or refuses more. */
  async function expectAmounts(refunded: bigint, inProgress: bigint, lost: bigint, refundable: bigint) {
    expect(await read()).toMatchObject({
      paidAmountMinor: 10_000n,
      refundedAmountMinor: refunded,
      inProgressAmountMinor: inProgress,
      lostAmountMinor: lost,
      refundableAmountMinor: refundable,
    });
    if (refundable > 0n) {
      const taken = await open({ ...facts, amountMinor: refundable });
      expect(taken.blockedBy).toEqual([]);
      expect((await read()).refundableAmountMinor).toBe(0n);
      await cancel(taken.id);
    }
    const more = await open({ ...facts, amountMinor: refundable + 1n }).catch(() => undefined);
    if (!more) return;
    expect(more.blockedBy).toEqual([RefundBlocker.PAYMENT_DISPUTED]);
    await cancel(more.id);
  }

  await expectRefusal(read(), Code.NotFound, 'PAYMENT_NOT_FOUND');
  const [first, second] = [randomUUID(), randomUUID()];
  await refunds.openDispute({ ...write(), disputeId: first, paymentIntentId, saleId, amountMinor: 2_000n });
  expect(await read()).toMatchObject({ paymentIntentId, saleId, openDisputes: 1, refundedAmountMinor: 0n });
  const { paidAmountMinor, lostAmountMinor, refundableAmountMinor } = await read();
  expect([paidAmountMinor, lostAmountMinor, refundableAmountMinor]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  await refunds.closeDispute({ ...write(), disputeId: first });
  const { id: succeeded } = await processing({ ...facts, amountMinor: 3_000n });
  await expectAmounts(0n, 3_000n, 0n, 7_000n);
  const succeed = { refundCaseId: succeeded, outcome: ProviderOutcome.SUCCEEDED };
  await refunds.recordProviderOutcome({ ...write(), ...succeed });
  const { id: waiting } = await open({ ...facts, amountMinor: 1_000n });
  await expectAmounts(3_000n, 1_000n, 0n, 6_000n);
  const dispute = async (disputeId: string, amountMinor?: bigint) => {
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId, amountMinor });
    await expectAmounts(3_000n, 1_000n, (await read()).lostAmountMinor!, 0n);
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
  };
  await dispute(randomUUID(), 2_000n);
  await expectAmounts(3_000n, 1_000n, 2_000n, 4_000n);
  await dispute(second);
  await expectAmounts(3_000n, 1_000n, 7_000n, 0n);
  await cancel(waiting);
  await expectAmounts(3_000n, 0n, 7_000n, 0n);
  const returned = { refundCaseId: succeeded, outcome: ProviderOutcome.FAILED };
  await refunds.recordProviderOutcome({ ...write(), ...returned });
  await expectAmounts(0n, 0n, 7_000n, 3_000n);
  expect((await read()).refundWindow).toMatchObject({ days: 30 });
});

it('needs funds only where the amount of a shared sale may limit what is refundable', async () => {
  const { refunds, tenant, write, open } = refundsOf(harness);
  const saleId = randomUUID();
  const of = (paidAmountMinor: bigint) => ({ paymentIntentId: randomUUID(), saleId, paidAmountMinor });
  const [full, partial] = [of(3_000n), of(2_000n)];
  await open({ ...full, amountMinor: 3_000n });
  await open({ ...partial, amountMinor: 500n });
  const unpaid = randomUUID();
  const disputeId = randomUUID();
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: unpaid, saleId, amountMinor: 100n });

  const withoutFunds = await startHarness({ SERVICES: 'refunds' }, undefined, harness.databaseUrl);
  try {
    const alone = refundsOf(withoutFunds, 'inProcess', tenant).refunds;
    const read = async (paymentIntentId: string) =>
      (await alone.getPayment({ ...tenant, paymentIntentId })).payment!;
    expect((await read(full.paymentIntentId)).refundableAmountMinor).toBe(0n);
    expect((await read(unpaid)).openDisputes).toBe(1);
    await expect(read(partial.paymentIntentId)).rejects.toThrow();
  } finally {
    await withoutFunds.close();
  }
  const { payment } = await refunds.getPayment({ ...tenant, paymentIntentId: partial.paymentIntentId });
  expect(payment?.refundableAmountMinor).toBe(1_500n);
});
