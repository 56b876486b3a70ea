import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { DisputeOutcome, ProviderOutcome } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { minutesAgo } from '../../support/ago.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { fundsCaller } from '../funds/funds-caller.ts';
import { refundsOf } from './refund-case-fixture.ts';

const harness = await startHarness({ SERVICES: 'refunds,funds', REFUND_FREQUENCY_LIMIT_24H: '1000' });
afterAll(() => harness.close());

const paidAt = minutesAgo(1);

/** A merchant with payments of a sale. */
function merchant() {
  const steps = refundsOf(harness, 'grpc');
  const { refunds, tenant, write, open } = steps;
  const saleId = randomUUID();
  return {
    ...steps,
    saleId,
    record: (gross: bigint) => fundsCaller(harness.transports.grpc, tenant).sell({ gross, saleId }),
    refund: (paymentIntentId: string, amountMinor: bigint, paidAmountMinor = 100n) =>
      open({ paymentIntentId, amountMinor, paidAmountMinor, paidAt, saleId }),
    refundable: async (paymentIntentId: string) =>
      (await refunds.getPayment({ ...tenant, paymentIntentId })).payment!.refundableAmountMinor,
    lose: async (paymentIntentId: string, amountMinor?: bigint) => {
      const disputeId = randomUUID();
      await refunds.openDispute({ ...write(), disputeId, paymentIntentId, saleId, amountMinor });
      const lost = { disputeId, outcome: DisputeOutcome.LOST };
      return (await refunds.closeDispute({ ...write(), ...lost })).dispute!;
    },
  };
}

it('refunds of all payments of a sale never exceed it, also when they are requested at the same time', async () => {
  const { record, refund, refundable, refunds, write, open, processing, saleId } = merchant();
  await record(100n);
  const payments = Array.from({ length: 8 }, () => randomUUID());
  const all = await Promise.allSettled(payments.map((payment) => refund(payment, 30n)));
  const opened = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(opened).toHaveLength(3);
  for (const { paymentIntentId } of opened) expect(await refundable(paymentIntentId)).toBe(10n);
  const another = randomUUID();
  const left = { refundableAmountMinor: '10' };
  await expectRefusal(refund(another, 11n), Code.FailedPrecondition, 'REFUND_EXCEEDS_SALE', left);
  const { id: canceled } = opened[0]!;
  await refunds.cancelRefundCase({ ...write(), refundCaseId: canceled });
  const facts = { paymentIntentId: another, amountMinor: 40n, paidAmountMinor: 100n, paidAt, saleId };
  const { id: refundCaseId } = await processing(facts);
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.SUCCEEDED });
  await expectRefusal(refund(randomUUID(), 1n), Code.FailedPrecondition, 'REFUND_EXCEEDS_SALE');
  // The payment has the sale, also if a request does not name it.
  const unnamed = open({ ...facts, amountMinor: 1n, saleId: undefined });
  await expectRefusal(unnamed, Code.FailedPrecondition, 'REFUND_EXCEEDS_SALE');
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.FAILED });
  expect((await refund(another, 40n)).saleId).toBe(saleId);
});

it('a sale limits refunds from the moment it is recorded, and its other payments those of a payment without an amount', async () => {
  const { record, refund, refundable, lose } = merchant();
  const [one, other] = [randomUUID(), randomUUID()];
  await refund(one, 60n);
  await refund(other, 30n);
  await expectRefusal(lose(randomUUID()), Code.FailedPrecondition, 'SALE_NOT_RECORDED');
  await record(100n);
  for (const payment of [one, other]) expect(await refundable(payment)).toBe(10n);
  await refund(other, 10n);
  await expectRefusal(refund(one, 1n), Code.FailedPrecondition, 'REFUND_EXCEEDS_SALE');
});

it('what disputes of its other payments have taken of a sale cannot be refunded', async () => {
  const { record, refund, refundable, lose } = merchant();
  await record(100n);
  const [one, other] = [randomUUID(), randomUUID()];
  await refund(one, 10n);
  await lose(other, 60n);
  expect(await refundable(one)).toBe(30n);
  await expectRefusal(refund(one, 31n), Code.FailedPrecondition, 'REFUND_EXCEEDS_SALE');
  await refund(one, 30n);
});

it('what disputes of the payment itself have taken of a sale that was paid twice cannot be refunded either', async () => {
  const { record, refund, refundable, lose } = merchant();
  await record(100n);
  const [one, other] = [randomUUID(), randomUUID()];
  await refund(one, 60n);
  await refund(other, 1n);
  await lose(other, 30n);
  expect(await refundable(other)).toBe(9n);
  await expectRefusal(refund(other, 10n), Code.FailedPrecondition, 'REFUND_EXCEEDS_SALE');
  expect((await refund(other, 9n)).blockedBy).toEqual([]);
});

it('a refund that a lost dispute blocks takes nothing more of a sale that covers all its payments', async () => {
  const { record, refund, refundable, lose } = merchant();
  await record(100n);
  const [one, other] = [randomUUID(), randomUUID()];
  await refund(one, 30n, 60n);
  await refund(other, 40n, 40n);
  await lose(one, 40n);
  expect(await refundable(one)).toBe(20n);
  expect((await refund(one, 20n, 60n)).blockedBy).toEqual([]);
});

it('a dispute without an amount, of a payment of which nothing is known, takes no more than others have not paid', async () => {
  const { record, refund, lose } = merchant();
  await record(100n);
  const [first, second, unknown] = [randomUUID(), randomUUID(), randomUUID()];
  await refund(first, 1n, 50n);
  await refund(second, 1n, 20n);
  expect(await lose(unknown)).toMatchObject({ lostAmountMinor: 30n });
  expect(await lose(unknown)).toMatchObject({ lostAmountMinor: 0n });
  // The payments whose amounts are known can still be refunded in full, but no more.
  await refund(first, 49n, 50n);
  await refund(second, 19n, 20n);
  const alone = merchant();
  await alone.record(100n);
  expect((await alone.lose(randomUUID())).lostAmountMinor).toBeUndefined();
});

it('a dispute that named no sale takes no more than others have not paid of the sale that its payment got since', async () => {
  const { record, refund, refunds, write, saleId } = merchant();
  const [other, unknown] = [randomUUID(), randomUUID()];
  await refund(other, 1n, 40n);
  const [unnamed, named] = [randomUUID(), randomUUID()];
  await refunds.openDispute({ ...write(), disputeId: unnamed, paymentIntentId: unknown });
  await refunds.openDispute({ ...write(), disputeId: named, paymentIntentId: unknown, saleId });
  const close = () => refunds.closeDispute({ ...write(), disputeId: unnamed, outcome: DisputeOutcome.LOST });
  await expectRefusal(close(), Code.FailedPrecondition, 'SALE_NOT_RECORDED');
  await record(100n);
  expect((await close()).dispute).toMatchObject({ saleId, lostAmountMinor: 60n });
  await expectRefusal(close(), Code.FailedPrecondition, 'DISPUTE_CLOSED');
});
