import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  RefundBlocker,
  RefundInitiator,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { workflowId, workflowType } from '../../../services/contracts/refunds/refund-funding.contract.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { minutesAgo } from '../../support/ago.ts';
import { sqlOf } from '../../support/sql.ts';
import { eventually, merchantOf, type RefundMerchant, sharedRefundHarness } from './refund-harness.ts';

const { FUNDING_REQUIRED, PROCESSING } = Status;

const fixture = sharedRefundHarness({ REFUND_FREQUENCY_LIMIT_24H: '1000' });

const merchant = () => merchantOf(fixture().harness);

/** A case that waits for the balance, requested this many minutes ago. */
async function waiting(of: RefundMerchant, amountMinor: bigint, minutes = 0, saleId?: string) {
  const occurredAt = minutesAgo(minutes);
  const opening = { initiator: RefundInitiator.MERCHANT, amountMinor, saleId, occurredAt };
  const { id, paymentIntentId } = await of.open({ ...opening, paidAmountMinor: amountMinor });
  await of.start(id);
  await of.becomes(id, FUNDING_REQUIRED);
  return { id, paymentIntentId };
}

/** The cases whose debits wait, oldest first. */
const waits = async ({ tenant }: RefundMerchant) => {
  const sql =
    'select refund_case_id as id from funds.pending_debit where merchant_id = $1 order by requested_at';
  const rows = await sqlOf<{ id: string }>(fixture().harness, sql, [tenant.merchantId]);
  return rows.map(({ id }) => id);
};

/** The refund cases in the order in which they were debited. */
const debited = async ({ tenant }: RefundMerchant) => {
  const sql =
    'select refund_case_id as id from funds.refund_debit where merchant_id = $1 order by debited_at';
  const rows = await sqlOf<{ id: string }>(fixture().harness, sql, [tenant.merchantId]);
  return rows.map(({ id }) => id);
};

describe('a refund that waits for the balance', () => {
  it('is executed automatically once the balance covers it, to the cent', async () => {
    const m = merchant();
    await m.earn(999n);
    const { id } = await waiting(m, 1_000n);
    expect(await waits(m)).toEqual([id]);
    await m.earn(1n);
    await m.becomes(id, PROCESSING);
    expect(await waits(m)).toEqual([]);
    expect((await m.funds.balance()).availableAmountMinor).toBe(0n);
  });

  it('continues after the daily release, a lifted block or a reversal', async () => {
    const m = merchant();
    const past = '2020-06-01';
    await m.funds.sell({ on: past, gross: 500n });
    const byRelease = await waiting(m, 500n);
    await m.funds.releaseDue('2020-07-31');
    await m.becomes(byRelease.id, PROCESSING);

    const blocked = await m.earn(300n);
    const dispute = await m.dispute(randomUUID(), blocked);
    await eventually(async () => expect((await m.funds.balance()).availableAmountMinor).toBe(0n));
    const byWin = await waiting(m, 300n);
    await m.refunds.closeDispute({ ...m.write(), disputeId: dispute });
    await m.becomes(byWin.id, PROCESSING);

    const byReversal = await waiting(m, 500n);
    await m.refunds.recordProviderOutcome({ ...m.write(), refundCaseId: byRelease.id, outcome: 3 });
    await m.becomes(byReversal.id, PROCESSING);
  });

  it('is paid from future installments that its own hold takes, even of a sale recorded later', async () => {
    const m = merchant();
    const saleId = randomUUID();
    const { id } = await waiting(m, 90n, 0, saleId);
    const card = { saleId, method: 2, grossAmountMinor: 300n, feesAmountMinor: 0n, installments: 3 };
    await m.funds.client.recordSale({ ...m.write(), ...card });
    await m.becomes(id, PROCESSING);
    const balance = { availableAmountMinor: 0n, scheduledAmountMinor: 210n };
    expect(await m.funds.balance()).toMatchObject(balance);
  });

  it('are executed oldest first, one at a time; those that are not covered keep waiting', async () => {
    const m = merchant();
    const newest = await waiting(m, 100n, 1);
    const large = await waiting(m, 5_000n, 50);
    const oldest = await waiting(m, 100n, 90);
    const middle = await waiting(m, 100n, 40);
    expect(await waits(m)).toEqual([oldest.id, large.id, middle.id, newest.id]);
    await m.earn(250n);
    for (const { id } of [oldest, middle]) await m.becomes(id, PROCESSING);
    await eventually(async () => expect(await waits(m)).toEqual([large.id, newest.id]));
    expect(await debited(m)).toEqual([oldest.id, middle.id]);
    expect((await m.funds.balance()).availableAmountMinor).toBe(50n);
    await m.earn(5_000n);
    await m.becomes(large.id, PROCESSING);
    expect(await debited(m)).toEqual([oldest.id, middle.id, large.id]);
    await m.earn(50n);
    await m.becomes(newest.id, PROCESSING);
  });

  it('keeps that order when the balance rises cent by cent, from many concurrent sources', async () => {
    const m = merchant();
    const cases: string[] = [];
    for (let age = 1; age <= 4; age += 1) cases.unshift((await waiting(m, 40n, age)).id);
    await Promise.all(Array.from({ length: 20 }, () => m.earn(8n)));
    for (const id of cases) await m.becomes(id, PROCESSING);
    expect(await debited(m)).toEqual(cases);
    expect(await waits(m)).toEqual([]);
    expect((await m.funds.balance()).availableAmountMinor).toBe(0n);
  });

  it('stops waiting once it is canceled or disputed, without a debit', async () => {
    const m = merchant();
    const canceled = await waiting(m, 100n);
    const disputed = await waiting(m, 100n);
    await m.refunds.cancelRefundCase({ ...m.write(), refundCaseId: canceled.id });
    await eventually(async () => expect(await waits(m)).toEqual([disputed.id]));
    await m.dispute(disputed.paymentIntentId);
    await m.earn(1_000n);
    await eventually(async () => expect(await waits(m)).toEqual([]));
    expect(await debited(m)).toEqual([]);
    await m.becomes(disputed.id, Status.SERVICE_REVIEW);
  });

  it('waits for a blocker of another team, and is tried when that is cleared', async () => {
    const m = merchant();
    const held = await waiting(m, 100n, 9);
    const other = await waiting(m, 100n, 1);
    const blocker = { refundCaseId: held.id, blocker: RefundBlocker.KYC_NOT_APPROVED };
    await m.refunds.addBlocker({ ...m.write(), ...blocker });
    await m.earn(150n);
    await m.becomes(other.id, PROCESSING);
    expect(await waits(m)).toEqual([]);
    await m.refunds.clearBlocker({ ...m.write(), ...blocker });
    // Fifty are left: it is tried, and waits again.
    await eventually(async () => expect(await waits(m)).toEqual([held.id]));
    await m.earn(50n);
    await m.becomes(held.id, PROCESSING);
  });

  it('misses no rise of the balance between the refused debit and its record', async () => {
    const m = merchant();
    const rounds = Array.from({ length: 12 }, async (_, n) => {
      const of = merchant();
      const id = await of.approved(100n);
      await of.start(id);
      // At moments all over the saga.
      await delay(n * 25);
      await of.earn(100n);
      await of.becomes(id, PROCESSING);
      expect((await of.funds.balance()).availableAmountMinor).toBe(0n);
    });
    await Promise.all(rounds);
    expect(await waits(m)).toEqual([]);
  });

  it('is not delayed by pending debits without a case', async () => {
    const m = merchant();
    const { id } = await waiting(m, 100n);
    const never = await m.approved(1n);
    const canceled = await m.approved(1n);
    await m.refunds.cancelRefundCase({ ...m.write(), refundCaseId: canceled });
    const requestedAt = minutesAgo(1);
    for (const [refundCaseId, execution] of [
      [randomUUID(), 1],
      [never, 1],
      [canceled, 9],
    ] as const) {
      const wait = { refundCaseId, execution, amountMinor: 1n, requestedAt };
      await m.funds.client.awaitFunding({ ...m.write(), ...wait });
    }
    await m.earn(100n);
    await m.becomes(id, PROCESSING);
    await eventually(async () => expect(await waits(m)).toEqual([]));
    expect(await debited(m)).toEqual([id]);
  });

  it('can be woken again in any state without harm', async () => {
    const m = merchant();
    const { id } = await waiting(m, 100n);
    await m.earn(100n);
    await m.becomes(id, PROCESSING);
    const input = { merchantId: m.tenant.merchantId, environment: 'live', refundCaseId: id };
    const options = { taskQueue: TASK_QUEUE, workflowId: workflowId(randomUUID()), args: [input] };
    await fixture().temporal.client.workflow.execute(workflowType, options);
    await m.becomes(id, PROCESSING);
    expect(await debited(m)).toEqual([id]);
  });
});
