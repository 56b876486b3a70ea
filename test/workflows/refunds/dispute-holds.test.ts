import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  DisputeOutcome,
  ProviderOutcome,
  RefundBlocker,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as disputeHold from '../../../services/contracts/refunds/dispute-hold.contract.ts';
import { minutesAgo } from '../../support/ago.ts';
import { sqlOf } from '../../support/sql.ts';
import { eventually, merchantOf, sharedRefundHarness } from './refund-harness.ts';

const { REFUND_IN_PROGRESS, HOLD_OR_DISPUTE } = BlockReason;
const REFUND = [REFUND_IN_PROGRESS];
const DISPUTE = [HOLD_OR_DISPUTE];

const fixture = sharedRefundHarness();

const merchant = () => merchantOf(fixture().harness);

describe("a dispute holds its payment's funds", () => {
  it('until it is won; then they are released by their date', async () => {
    const { refunds, write, funds, open, dispute, rows } = merchant();
    const { saleId } = await funds.sell({ gross: 1_001n, installments: 2 });
    const { paymentIntentId, id } = await open({ saleId, amountMinor: 100n });
    const disputeId = await dispute(paymentIntentId);
    const both = [...DISPUTE, ...REFUND];
    await eventually(async () =>
      expect(await rows()).toEqual([
        { left: 501n, held: DISPUTE },
        { left: 500n, held: both },
      ]),
    );
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.WON });
    await eventually(async () =>
      expect(await rows()).toEqual([{ left: 501n }, { left: 100n, held: REFUND }, { left: 400n }]),
    );
    await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
    await eventually(async () => expect(await rows()).toEqual([{ left: 501n }, { left: 500n }]));
  });

  it('only its amount, as long as it is open, even if its end is run by hand; it can still be lost then', async () => {
    const { refunds, write, tenant, dispute, rows, earn } = merchant();
    const disputeId = await dispute(randomUUID(), await earn(700n), 400n);
    const rest = { left: 300n, released: true };
    await eventually(async () => expect(await rows()).toEqual([{ left: 400n, held: DISPUTE }, rest]));
    const input = { merchantId: tenant.merchantId, environment: 'live', disputeId };
    const end = disputeHold.endWorkflowId(disputeId);
    expect(await fixture().again(disputeHold.endWorkflowType, end, input)).toBe('HELD');
    expect(await rows()).toEqual([{ left: 400n, held: DISPUTE }, rest]);
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    await eventually(async () => expect(await rows()).toEqual([rest]));
  });

  it('until it is lost; then they are deducted, including those that a refund also held', async () => {
    const { refunds, write, tenant, open, dispute, rows, earn } = merchant();
    const saleId = await earn(1_000n);
    await earn(50n);
    const { paymentIntentId, id } = await open({ saleId, amountMinor: 100n });
    const disputeId = await dispute(paymentIntentId);
    await eventually(async () =>
      expect(await rows()).toEqual([
        { left: 1_000n, held: [...DISPUTE, ...REFUND] },
        { left: 50n, released: true },
      ]),
    );
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    await eventually(async () => expect(await rows()).toEqual([{ left: 50n, released: true }]));
    await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED'));
    expect(await rows()).toEqual([{ left: 50n, released: true }]);
    const { dispute: closed } = await refunds.getDispute({ ...tenant, disputeId });
    expect(closed).toMatchObject({ saleId, outcome: DisputeOutcome.LOST });
  });

  it('until it is lost; then the merchant owes, once, what was advanced or kept as fees too', async () => {
    const { refunds, write, tenant, funds, dispute, rows } = merchant();
    const { saleId } = await funds.sell({ gross: 300n, fees: 30n, installments: 3 });
    const advance = randomUUID();
    await funds.reserve((await funds.advanceable()).installments.slice(0, 2), advance);
    await funds.settle(advance);
    const disputeId = await dispute(randomUUID(), saleId);
    const advanced = [{ left: 0n }, { left: 0n }];
    await eventually(async () => expect(await rows()).toEqual([...advanced, { left: 90n, held: DISPUTE }]));
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    const end = disputeHold.endWorkflowId(disputeId);
    await eventually(async () => expect(await fixture().resultOf(end)).toBe('ENDED'));
    expect(await rows()).toEqual([...advanced, { left: 0n }]);
    expect((await funds.balance()).openDebtsAmountMinor).toBe(210n);
    // A day later the idempotency keys have expired.
    await sqlOf(
      fixture().harness,
      "update platform.idempotency_record set created_at = now() - interval '2 days'",
    );
    const input = { merchantId: tenant.merchantId, environment: 'live', disputeId };
    expect(await fixture().again(disputeHold.endWorkflowType, end, input)).toBe('ENDED');
    expect((await funds.balance()).openDebtsAmountMinor).toBe(210n);
    await funds.sell({ gross: 300n });
    expect(await funds.balance()).toMatchObject({ openDebtsAmountMinor: 0n, scheduledAmountMinor: 90n });
  });

  it('and several that are lost, for amounts and for the rest of it, deduct their sale once', async () => {
    const amounts = [100n, 150n, 300n, undefined];
    const { refunds, write, funds, dispute, rows } = merchant();
    const { saleId } = await funds.sell({ gross: 300n, fees: 30n });
    const payment = randomUUID();
    const disputes: string[] = [];
    for (const amountMinor of amounts) disputes.push(await dispute(payment, saleId, amountMinor));
    for (const disputeId of disputes) {
      await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
      await eventually(async () =>
        expect(await fixture().resultOf(disputeHold.endWorkflowId(disputeId))).toBe('ENDED'),
      );
    }
    expect(await rows()).toEqual([{ left: 0n }]);
    expect((await funds.balance()).openDebtsAmountMinor).toBe(30n);
  });

  it('of the sale that it names while the payment is unknown; without a sale, it holds nothing', async () => {
    const { refunds, tenant, write, dispute, rows, earn } = merchant();
    const saleId = await earn(700n);
    const silent = await dispute(randomUUID());
    const disputeId = await dispute(randomUUID(), saleId);
    await eventually(async () => expect(await rows()).toEqual([{ left: 700n, held: DISPUTE }]));
    // Without an outcome nothing is deducted.
    await refunds.closeDispute({ ...write(), disputeId });
    await eventually(async () => expect(await rows()).toEqual([{ left: 700n, released: true }]));
    await refunds.closeDispute({ ...write(), disputeId: silent });
    expect((await refunds.getDispute({ ...tenant, disputeId: silent })).dispute?.saleId).toBeUndefined();
    expect(await rows()).toEqual([{ left: 700n, released: true }]);
  });

  it.each([
    { dispute: 'without an amount', amountMinor: undefined, refunded: 0n },
    { dispute: 'of all that was paid, of which a refund returned a part', amountMinor: 500n, refunded: 40n },
  ])(
    'until it is lost, and deducts the rest of its sale even if the sale is recorded only afterwards: a dispute $dispute',
    async ({ amountMinor, refunded }) => {
      const { refunds, write, funds, open, dispute, earn, record, becomes } = merchant();
      const saleId = randomUUID();
      const paymentIntentId = randomUUID();
      if (refunded > 0n) {
        await earn(refunded);
        const facts = { paymentIntentId, saleId, amountMinor: refunded, paidAmountMinor: 500n };
        const { id: refundCaseId } = await open({ ...facts, initiator: RefundInitiator.MERCHANT });
        await refunds.startRefund({ ...write(), refundCaseId });
        await becomes(refundCaseId, RefundCaseStatus.PROCESSING);
        await record(refundCaseId, ProviderOutcome.SUCCEEDED);
      }
      const disputeId = await dispute(paymentIntentId, saleId, amountMinor);
      await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
      const end = fixture().temporal.client.workflow.getHandle(disputeHold.endWorkflowId(disputeId));
      await eventually(async () => {
        const { raw } = await end.describe();
        expect(raw.pendingActivities?.[0]?.lastFailure?.message).toContain('not recorded yet');
      });
      expect((await funds.balance()).openDebtsAmountMinor).toBe(0n);
      await funds.sell({ saleId, gross: 500n, fees: 20n });
      const deduction = () => funds.client.getDeduction({ ...funds.tenant, sourceId: disputeId });
      await eventually(async () => expect((await deduction()).amountMinor).toBe(500n - refunded));
      const owed = refunded > 0n ? 0n : 20n;
      expect(await funds.balance()).toMatchObject({
        openDebtsAmountMinor: owed,
        scheduledAmountMinor: 20n - owed,
      });
    },
  );

  it.each([
    { amount: 'at its opening', opening: 400n, closing: undefined },
    { amount: 'at its end', opening: undefined, closing: 400n },
  ])(
    'not without a sale, but when it is lost, its amount, named $amount, is deducted from other funds',
    async ({ opening, closing }) => {
      const { refunds, write, funds, dispute, rows } = merchant();
      await funds.sell({ gross: 300n });
      const disputeId = await dispute(randomUUID(), undefined, opening);
      const lost = { disputeId, outcome: DisputeOutcome.LOST, amountMinor: closing };
      await refunds.closeDispute({ ...write(), ...lost });
      await eventually(async () => expect(await rows()).toEqual([{ left: 0n }]));
      expect((await funds.balance()).openDebtsAmountMinor).toBe(100n);
    },
  );

  it('not without a sale; those that are lost deduct no more than refunds have left of the payment', async () => {
    const { refunds, tenant, write, funds, open, dispute, earn, record, becomes } = merchant();
    await earn(1_000n);
    const { id: refundCaseId, paymentIntentId } = await open({
      initiator: RefundInitiator.MERCHANT,
      amountMinor: 40n,
      paidAmountMinor: 100n,
    });
    await refunds.startRefund({ ...write(), refundCaseId });
    await becomes(refundCaseId, RefundCaseStatus.PROCESSING);
    await record(refundCaseId, ProviderOutcome.SUCCEEDED);
    const disputes: string[] = [];
    for (const amountMinor of [50n, 100n, 100n]) {
      disputes.push(await dispute(paymentIntentId, undefined, amountMinor));
    }
    const taken: (bigint | undefined)[] = [];
    for (const disputeId of disputes) {
      await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
      taken.push((await refunds.getDispute({ ...tenant, disputeId })).dispute!.lostAmountMinor);
    }
    expect(taken).toEqual([50n, 10n, 0n]);
    await eventually(async () => expect((await funds.balance()).openDebtsAmountMinor).toBe(60n));
    expect((await funds.balance()).availableAmountMinor).toBe(900n);
    const input = { merchantId: tenant.merchantId, environment: 'live', disputeId: disputes[2] };
    const end = disputeHold.endWorkflowId(disputes[2]!);
    expect(await fixture().again(disputeHold.endWorkflowType, end, input)).toBe('ENDED');
    expect((await funds.balance()).openDebtsAmountMinor).toBe(60n);

    await record(refundCaseId, ProviderOutcome.FAILED);
    const raised = async (disputeId: string) => {
      expect(await fixture().resultOf(`${disputeHold.endWorkflowId(disputeId)}-${refundCaseId}`)).toBe(
        'ENDED',
      );
      return (await refunds.getDispute({ ...tenant, disputeId })).dispute!.lostAmountMinor;
    };
    await eventually(async () => expect(await raised(disputes[1]!)).toBe(50n));
    await eventually(async () => expect((await funds.balance()).availableAmountMinor).toBe(900n));
    expect((await funds.balance()).openDebtsAmountMinor).toBe(100n);
  });

  it('until it is lost for the rest of its payment; a refund that the bank returns then can be made again', async () => {
    const { refunds, write, tenant, funds, open, dispute, earn, record, becomes } = merchant();
    // Another payment has paid 500 of the sale.
    const saleId = await earn(1_500n);
    const paymentIntentId = randomUUID();
    const paidAt = minutesAgo(1);
    const payment = { paymentIntentId, saleId, paidAt, paidAmountMinor: 1_000n };
    const facts = { ...payment, initiator: RefundInitiator.MERCHANT };
    const refund = async (amountMinor: bigint) => {
      const { id: refundCaseId } = await open({ ...facts, amountMinor });
      await refunds.startRefund({ ...write(), refundCaseId });
      await becomes(refundCaseId, RefundCaseStatus.PROCESSING);
      await record(refundCaseId, ProviderOutcome.SUCCEEDED);
      return refundCaseId;
    };
    const returned = await refund(400n);
    const disputeId = await dispute(paymentIntentId);
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    const taken = async () =>
      (await funds.client.getDeduction({ ...tenant, sourceId: disputeId })).amountMinor;
    await eventually(async () => expect(await taken()).toBe(600n));
    const blocked = await open({ ...facts, amountMinor: 1n });
    expect(blocked.blockedBy).toEqual([RefundBlocker.PAYMENT_DISPUTED]);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: blocked.id });

    await record(returned, ProviderOutcome.FAILED);
    await eventually(async () => expect((await funds.balance()).availableAmountMinor).toBe(900n));
    expect(await taken()).toBe(600n);
    await refund(400n);
    expect((await funds.balance()).availableAmountMinor).toBe(500n);
    expect((await open({ ...facts, amountMinor: 1n })).blockedBy).toEqual([RefundBlocker.PAYMENT_DISPUTED]);
  });

  it('even if the sale is known only at its end, or start and end arrive together', async () => {
    const { refunds, write, open, dispute, rows, earn } = merchant();
    const saleId = await earn(700n);
    const paymentIntentId = randomUUID();
    const disputeId = await dispute(paymentIntentId);
    const { id: refundCaseId } = await open({ paymentIntentId, saleId, amountMinor: 1n });
    await refunds.cancelRefundCase({ ...write(), refundCaseId });
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    await eventually(async () => expect(await rows()).toEqual([{ left: 0n }]));
  });
});
