import { randomUUID } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { MovementKind } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  DisputeOutcome,
  RefundBlocker,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { EventService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as disputeHold from '../../../services/contracts/refunds/dispute-hold.contract.ts';
import { minutesAgo } from '../../support/ago.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { eventually, merchantOf, sharedRefundHarness } from './refund-harness.ts';

const fixture = sharedRefundHarness();

function merchant() {
  const steps = merchantOf(fixture().harness);
  const { refunds, tenant, write, funds } = steps;
  return {
    ...steps,
    lose: (disputeId: string) =>
      refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST }),
    reverse: (disputeId: string) => refunds.reverseDispute({ ...write(), disputeId }),
    taken: async (disputeId: string) => {
      const { amountMinor, restoredAmountMinor, canceledDebtAmountMinor } = await funds.client.getDeduction({
        ...tenant,
        sourceId: disputeId,
      });
      return [amountMinor, restoredAmountMinor + canceledDebtAmountMinor];
    },
    ended: (workflowId: string) =>
      eventually(async () => {
        await fixture().resultOf(workflowId);
      }),
  };
}

it('a dispute that is lost and reversed returns what it deducted, once, and cancels the rest of its debt', async () => {
  const { refunds, tenant, write, funds, dispute, lose, reverse, taken, rows, ended } = merchant();
  const { saleId } = await funds.sell({ gross: 300n, fees: 30n, installments: 3 });
  const advance = randomUUID();
  await funds.reserve((await funds.advanceable()).installments.slice(0, 1), advance);
  await funds.settle(advance);
  const disputeId = await dispute(randomUUID(), saleId);
  await lose(disputeId);
  await ended(disputeHold.endWorkflowId(disputeId));
  // 180 of the sale, and 120 of debt, of which another sale pays 70 and the merchant 20.
  await funds.sell({ gross: 70n });
  await funds.client.recordDebtPayment({ ...write(), paymentId: randomUUID(), amountMinor: 20n });
  expect(await funds.balance()).toMatchObject({ openDebtsAmountMinor: 30n, scheduledAmountMinor: 0n });
  expect(await taken(disputeId)).toEqual([300n, 0n]);

  const { dispute: reversed } = await reverse(disputeId);
  expect(reversed).toMatchObject({ saleId, outcome: DisputeOutcome.REVERSED });
  expect(reversed!.reversedAt).toBeDefined();
  await ended(disputeHold.reversalWorkflowId(disputeId));
  // The two installments of the sale, and the other sale.
  expect((await rows()).reduce((sum, { left }) => sum + left, 0n)).toBe(250n);
  expect(await funds.balance()).toMatchObject({ openDebtsAmountMinor: 0n, scheduledAmountMinor: 250n });
  // The merchant's payment of 20 is to be transferred back.
  expect(await taken(disputeId)).toEqual([300n, 280n]);
  const { movements } = await funds.client.listMovements({ ...tenant, fromDate: '2020-01-01' });
  const { kind, sourceId, saleId: ofSale, change } = movements.at(-1)!;
  expect({ kind, sourceId, ofSale }).toEqual({
    kind: MovementKind.DEDUCTION_REVERSAL,
    sourceId: disputeId,
    ofSale: saleId,
  });
  expect(change).toMatchObject({
    availableAmountMinor: 30n,
    scheduledAmountMinor: 250n,
    blockedAmountMinor: 0n,
  });

  const input = { merchantId: tenant.merchantId, environment: 'live', disputeId };
  await fixture().again('reverseLostDispute', disputeHold.reversalWorkflowId(disputeId), input);
  await fixture().again(disputeHold.endWorkflowType, disputeHold.endWorkflowId(disputeId), input);
  expect(await funds.balance()).toMatchObject({ openDebtsAmountMinor: 0n, scheduledAmountMinor: 250n });
  await expectRefusal(reverse(disputeId), Code.FailedPrecondition, 'DISPUTE_REVERSED');
  const again = funds.client.applyDeduction({
    ...write(),
    sourceId: disputeId,
    amountMinor: 400n,
    raise: true,
  });
  await expectRefusal(again, Code.FailedPrecondition, 'DEDUCTION_REVERSED', { state: 'REVERSED' });
  const events = createClient(EventService, fixture().harness.transports.inProcess);
  const published = await events.listEvents({ ...tenant, objectId: disputeId });
  expect(published.events.map(({ type }) => type)).toContain('dispute.reversed.v1');
  // A second chargeback is a separate dispute.
  const second = await dispute(reversed!.paymentIntentId, saleId, 50n);
  await refunds.closeDispute({ ...write(), disputeId: second, outcome: DisputeOutcome.LOST });
  await eventually(async () => expect((await funds.balance()).scheduledAmountMinor).toBe(200n));
});

it('only a lost dispute can be reversed', async () => {
  const { refunds, write, dispute, reverse } = merchant();
  const disputeId = await dispute(randomUUID());
  const refusal = (state: string) => [Code.FailedPrecondition, 'DISPUTE_NOT_LOST', { state }] as const;
  await expectRefusal(reverse(disputeId), ...refusal('OPEN'));
  await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.WON });
  await expectRefusal(reverse(disputeId), ...refusal('WON'));
  await expectRefusal(reverse(randomUUID()), Code.NotFound, 'DISPUTE_NOT_FOUND');
  const outcome = DisputeOutcome.REVERSED;
  const closed = refunds.closeDispute({ ...write(), disputeId: await dispute(randomUUID()), outcome });
  await expectRefusal(closed, Code.InvalidArgument, 'INVALID_ARGUMENT');
});

it('its payment can be refunded again, and cases that it blocked are unblocked', async () => {
  const { refunds, tenant, open, dispute, lose, reverse, earn } = merchant();
  const saleId = await earn(100n);
  const facts = {
    paymentIntentId: randomUUID(),
    saleId,
    paidAmountMinor: 100n,
    paidAt: minutesAgo(1),
    initiator: RefundInitiator.MERCHANT,
  };
  const { id } = await open({ ...facts, amountMinor: 60n });
  const disputeId = await dispute(facts.paymentIntentId, undefined, 70n);
  await lose(disputeId);
  const blockedBy = async () =>
    (await refunds.getRefundCase({ ...tenant, refundCaseId: id })).refundCase!.blockedBy;
  expect(await blockedBy()).toEqual([RefundBlocker.PAYMENT_DISPUTED]);
  const { refundCases } = await reverse(disputeId);
  expect(refundCases.map((each) => [each.id, each.blockedBy])).toEqual([[id, []]]);
  const { payment } = await refunds.getPayment({ ...tenant, paymentIntentId: facts.paymentIntentId });
  expect(payment).toMatchObject({ lostAmountMinor: 0n, refundableAmountMinor: 40n });
});

it.each([
  { sale: 'of their sale', named: true },
  { sale: 'of the payment, without a sale', named: false },
])('disputes that were lost after it then deduct what it had left no funds for: $sale', async ({ named }) => {
  const { open, dispute, lose, reverse, taken, earn, ended, funds } = merchant();
  const saleId = named ? await earn(100n) : undefined;
  await earn(1_000n);
  const facts = { paymentIntentId: randomUUID(), amountMinor: 1n, paidAmountMinor: 100n, saleId };
  await open(facts);
  const [first, second] = [
    await dispute(facts.paymentIntentId, undefined, 80n),
    await dispute(facts.paymentIntentId, undefined, 50n),
  ];
  for (const disputeId of [first, second]) {
    await lose(disputeId);
    await ended(disputeHold.endWorkflowId(disputeId));
  }
  expect([await taken(first), await taken(second)]).toEqual([
    [80n, 0n],
    [20n, 0n],
  ]);
  await reverse(first);
  await eventually(async () => {
    expect([await taken(first), await taken(second)]).toEqual([
      [80n, 80n],
      [50n, 0n],
    ]);
  });
  const { availableAmountMinor, blockedAmountMinor } = await funds.balance();
  // The case that is still open holds 1 of its sale.
  expect(availableAmountMinor + blockedAmountMinor).toBe(named ? 1_050n : 950n);
});

it('before its sale is recorded, it deducts nothing of the sale', async () => {
  const { dispute, lose, reverse, funds, ended, rows } = merchant();
  const saleId = randomUUID();
  const disputeId = await dispute(randomUUID(), saleId);
  await lose(disputeId);
  await reverse(disputeId);
  await ended(disputeHold.reversalWorkflowId(disputeId));
  await funds.sell({ saleId, gross: 500n });
  await ended(disputeHold.endWorkflowId(disputeId));
  expect(await rows()).toEqual([{ left: 500n }]);
});
