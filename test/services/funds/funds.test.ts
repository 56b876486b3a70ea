import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  BlockOutcome,
  BlockReason,
  FundsReleaseStatus,
  SaleMethod,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { fundsCaller } from './funds-caller.ts';
import { verifyFunds } from './verification/verify-funds.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());
afterEach(() => verifyFunds(harness));

const MAX = 9_007_199_254_740_991n;

describe('FundsService', () => {
  const newFunds = () => fundsCaller(harness.transports.inProcess);

  it('schedules a card sale over business days and releases an instant transfer at once', async () => {
    const funds = newFunds();
    const { installments } = await funds.sell({
      on: '2020-06-20',
      gross: 10_000n,
      fees: 400n,
      installments: 3,
    });
    expect(installments).toMatchObject([
      {
        number: 1,
        date: '2020-07-20',
        grossAmountMinor: 3334n,
        feesAmountMinor: 134n,
        originalAmountMinor: 3200n,
      },
      { number: 2, date: '2020-08-19', grossAmountMinor: 3333n, feesAmountMinor: 133n },
      { number: 3, date: '2020-09-18', grossAmountMinor: 3333n, feesAmountMinor: 133n },
    ]);
    await funds.sell({ on: '2020-06-20', gross: 500n, fees: 5n, instant: true });
    expect(await funds.rows()).toEqual([
      ['2020-06-20', 'RELEASED', 0n, 0n, 495n, 1],
      ['2020-07-20', 'SCHEDULED', 0n, 0n, 3200n, 1],
      ['2020-08-19', 'SCHEDULED', 0n, 0n, 3200n, 1],
      ['2020-09-18', 'SCHEDULED', 0n, 0n, 3200n, 1],
    ]);
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 495n, scheduledAmountMinor: 9600n });
  });

  it('records a sale once, and rejects fees above the gross and instant transfers in installments', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ gross: 100n });
    const sale = {
      ...funds.write(),
      saleId,
      method: 2,
      grossAmountMinor: 100n,
      feesAmountMinor: 0n,
      installments: 1,
    };
    await expectRefusal(funds.client.recordSale(sale), Code.AlreadyExists, 'SALE_ALREADY_RECORDED');
    await expectRefusal(funds.sell({ gross: 100n, fees: 101n }), Code.InvalidArgument, 'FEES_EXCEED_GROSS');
    const twice = { ...sale, ...funds.write(), saleId: randomUUID(), method: 1, installments: 2 };
    await expectRefusal(funds.client.recordSale(twice), Code.InvalidArgument, 'INSTALLMENTS_NOT_ALLOWED');
  });

  it('keeps amounts exact up to the bound, and refuses to let a day exceed it', async () => {
    const funds = newFunds();
    await funds.sell({ on: '2020-06-20', gross: MAX, instant: true });
    const above = funds.sell({ on: '2020-06-20', gross: 1n, instant: true });
    await expectRefusal(above, Code.OutOfRange, 'AMOUNT_OUT_OF_RANGE', { date: '2020-06-20' });
    await funds.sell({ on: '2020-06-21', gross: MAX, instant: true });
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 2n * MAX });
    const { days } = await funds.client.getReleaseCalendar({ ...funds.tenant, month: '2020-06' });
    expect(days.map((day) => day.releasedAmountMinor)).toEqual([MAX, MAX]);
  });

  it('releases on the date, once, and catches up on missed days', async () => {
    const funds = newFunds();
    await funds.sell({ on: '2020-06-20', gross: 300n, installments: 3 });
    expect(await funds.releaseDue('2020-07-19')).toMatchObject({ releasedInstallments: 0 });
    expect(await funds.releaseDue('2020-08-19')).toMatchObject({
      releasedInstallments: 2,
      releasedAmountMinor: 200n,
    });
    expect(await funds.releaseDue('2020-08-19')).toMatchObject({ releasedInstallments: 0, hasMore: false });
    expect((await funds.rows()).map((row) => row[1])).toEqual(['RELEASED', 'RELEASED', 'SCHEDULED']);
    expect(await funds.releaseDue(civilDateAt(new Date()))).toMatchObject({ releasedInstallments: 1 });
    await expectRefusal(funds.releaseDue('2999-01-01'), Code.InvalidArgument, 'INVALID_ARGUMENT', {
      field: 'as_of',
    });
  });

  it('holds the rest of a sale by default, counts each reason until its last block ends, and unblocks by date', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
    await funds.releaseDue('2020-07-20');
    const [dispute, refund] = [randomUUID(), randomUUID()];
    const held = { blockedAmountMinor: 300n, unmetAmountMinor: 0n };
    expect(await funds.block(saleId, dispute)).toMatchObject(held);
    expect(await funds.block(saleId, dispute)).toMatchObject(held);
    await funds.block(saleId, refund, BlockReason.REFUND_IN_PROGRESS);
    const { releases } = await funds.client.listFundsReleases({ ...funds.tenant });
    expect(releases).toMatchObject([
      {
        date: '2020-07-20',
        status: FundsReleaseStatus.BLOCKED,
        blockedAmountMinor: 150n,
        blockedReasons: [1, 2],
      },
      {
        date: '2020-08-19',
        status: FundsReleaseStatus.BLOCKED,
        blockedAmountMinor: 150n,
        blockedReasons: [1, 2],
      },
    ]);
    await funds.unblock(saleId, dispute);
    expect((await funds.rows()).map((row) => row[1])).toEqual(['BLOCKED', 'BLOCKED']);
    const back = await funds.unblock(
      saleId,
      refund,
      BlockOutcome.RETURNED,
      BlockReason.REFUND_IN_PROGRESS,
      '2020-07-21',
    );
    expect(back.installments.map((installment) => FundsReleaseStatus[installment.status])).toEqual([
      'RELEASED',
      'SCHEDULED',
    ]);
    await expectRefusal(funds.unblock(saleId, dispute), Code.NotFound, 'BLOCK_NOT_FOUND');
  });

  it('holds an amount: splits the installment that exceeds it, counts the sale once a day, and undoes all of it', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100_000n, fees: 4_000n, installments: 2 });
    const [refund, other] = [randomUUID(), randomUUID()];
    const reason = BlockReason.REFUND_IN_PROGRESS;
    const held = await funds.block(saleId, refund, reason, '2020-06-21', 400n);
    expect(held).toMatchObject({ blockedAmountMinor: 400n, unmetAmountMinor: 0n });
    const amounts = { grossAmountMinor: 416n, feesAmountMinor: 16n, originalAmountMinor: 400n };
    expect(held.installments).toMatchObject([{ number: 2, part: 2, date: '2020-08-19', ...amounts }]);
    const rows = [
      ['2020-07-20', 'SCHEDULED', 0n, 0n, 48_000n, 1],
      ['2020-08-19', 'BLOCKED', 0n, 0n, 400n, 1],
      ['2020-08-19', 'SCHEDULED', 0n, 0n, 47_600n, 1],
    ];
    expect(await funds.rows()).toEqual(rows);
    const { days } = await funds.client.getReleaseCalendar({ ...funds.tenant, month: '2020-08' });
    expect(days).toMatchObject([{ salesCount: 1, blockedAmountMinor: 400n, scheduledAmountMinor: 47_600n }]);
    const differs = funds.block(saleId, refund, reason, '2020-06-21', 401n);
    await expectRefusal(differs, Code.AlreadyExists, 'BLOCK_AMOUNT_DIFFERS', { amountMinor: '400' });
    // Another hold takes other cents, and shares only when none are left.
    const dispute = await funds.block(saleId, other, BlockReason.HOLD_OR_DISPUTE, '2020-06-21', 95_700n);
    expect(dispute).toMatchObject({ blockedAmountMinor: 95_700n, unmetAmountMinor: 0n });
    expect((await funds.balance()).blockedAmountMinor).toBe(96_000n);
    await funds.unblock(saleId, other, BlockOutcome.RETURNED, BlockReason.HOLD_OR_DISPUTE, '2020-06-21');
    expect(await funds.rows()).toEqual(rows);
    await funds.unblock(saleId, refund, BlockOutcome.RETURNED, reason, '2020-06-22');
    expect(await funds.rows()).toEqual([rows[0], ['2020-08-19', 'SCHEDULED', 0n, 0n, 48_000n, 1]]);
  });

  it('holds a missing amount as soon as it is free, and a sale as soon as it is recorded', async () => {
    const funds = newFunds();
    const [saleId, dispute, refund, advance] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const rest = await funds.block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, '2020-06-19');
    expect(rest).toMatchObject({ blockedAmountMinor: 0n, installments: [] });
    expect(rest.unmetAmountMinor).toBeUndefined();
    const early = await funds.block(saleId, refund, BlockReason.REFUND_IN_PROGRESS, '2020-06-19', 60n);
    expect(early).toMatchObject({ blockedAmountMinor: 0n, unmetAmountMinor: 60n });
    const sale = { saleId, method: SaleMethod.CARD, grossAmountMinor: 200n, installments: 2 };
    const recorded = await funds.client.recordSale({ ...funds.write('2020-06-20'), ...sale });
    expect(recorded.installments.map(({ number, part, status }) => [number, part, status])).toEqual([
      [1, 1, FundsReleaseStatus.BLOCKED],
      [2, 1, FundsReleaseStatus.BLOCKED],
      [2, 2, FundsReleaseStatus.BLOCKED],
    ]);
    await funds.unblock(saleId, dispute, BlockOutcome.RETURNED, BlockReason.HOLD_OR_DISPUTE, '2020-06-20');
    const { installments } = await funds.advanceable('2020-06-20');
    expect(installments.map(({ amountMinor }) => amountMinor)).toEqual([100n, 40n]);
    await funds.reserve(installments, advance, '2020-06-20');
    const unmet = await funds.block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, '2020-06-20');
    expect(unmet).toMatchObject({ blockedAmountMinor: 60n, unmetAmountMinor: 140n });
    await funds.free(advance, '2020-06-20');
    expect(await funds.balance()).toMatchObject({ blockedAmountMinor: 200n, scheduledAmountMinor: 0n });
  });

  it('a debited refund is no longer held, and reduces the rest of the sale', async () => {
    const funds = newFunds();
    const [refund, dispute] = [randomUUID(), randomUUID()];
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 1_000n, instant: true });
    await funds.block(saleId, refund, BlockReason.REFUND_IN_PROGRESS, '2020-06-20', 400n);
    await funds.block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, '2020-06-20');
    await funds.debit(refund, 400n, saleId, '2020-06-20');
    expect(await funds.balance()).toMatchObject({ blockedAmountMinor: 600n, availableAmountMinor: 0n });
    const lost = await funds.unblock(saleId, dispute, BlockOutcome.CONSUMED);
    expect(lost).toMatchObject({ heldAmountMinor: 600n, unmetAmountMinor: 0n });
    await funds.reverse(refund);
    expect(await funds.balance()).toMatchObject({ blockedAmountMinor: 400n, availableAmountMinor: 0n });
  });

  it('consumes what a lost dispute blocked', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
    const dispute = randomUUID();
    await funds.block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, '2020-06-21');
    const lost = await funds.unblock(
      saleId,
      dispute,
      BlockOutcome.CONSUMED,
      BlockReason.HOLD_OR_DISPUTE,
      '2020-06-22',
    );
    expect(lost.installments.map((installment) => installment.deductionsAmountMinor)).toEqual([150n, 150n]);
    expect(await funds.rows()).toEqual([
      ['2020-07-20', 'SCHEDULED', 150n, 0n, 0n, 1],
      ['2020-08-19', 'SCHEDULED', 150n, 0n, 0n, 1],
    ]);
  });

  it('turns what the installments do not cover into a debt, and collects it from the next sale', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100n });
    await funds.sell({ on: '2020-06-20', gross: 1000n, instant: true });
    expect(await funds.deduct(250n, saleId)).toMatchObject({
      deductedAmountMinor: 100n,
      debtAmountMinor: 150n,
    });
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 850n, openDebtsAmountMinor: 150n });
    const { installments } = await funds.sell({ on: '2020-06-21', gross: 200n, installments: 2 });
    expect(installments.map((installment) => installment.deductionsAmountMinor)).toEqual([100n, 50n]);
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 1000n, openDebtsAmountMinor: 0n });
    await expectRefusal(funds.deduct(1n, randomUUID()), Code.NotFound, 'SALE_NOT_FOUND');
  });

  it('returns what a lost dispute has deducted, how much of it became a debt, and how much of that is open', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
    const { installments } = await funds.advanceable('2020-06-20');
    const advance = randomUUID();
    await funds.reserve(installments.slice(0, 1), advance, '2020-06-20');
    await funds.settle(advance, '2020-06-20');
    await funds.sell({ on: '2020-06-20', gross: 40n });
    const block = { saleId, sourceId: randomUUID(), reason: BlockReason.HOLD_OR_DISPUTE };
    const deduction = () => funds.client.getDeduction({ ...funds.tenant, sourceId: block.sourceId });
    await funds.client.blockFunds({ ...funds.write('2020-06-21'), ...block });
    await expectRefusal(deduction(), Code.NotFound, 'DEDUCTION_NOT_FOUND');
    const lost = { ...funds.write('2020-06-22'), ...block, outcome: BlockOutcome.CONSUMED };
    await funds.client.unblockFunds({ ...lost, deductUnmet: true });
    const { occurredAt } = lost;
    const taken = { amountMinor: 300n, debtAmountMinor: 110n, openDebtAmountMinor: 110n, occurredAt };
    expect(await deduction()).toMatchObject(taken);
    await funds.sell({ on: '2020-06-23', gross: 60n });
    expect(await deduction()).toMatchObject({ ...taken, openDebtAmountMinor: 50n });
    const stranger = newFunds();
    const elsewhere = { ...stranger.tenant, sourceId: block.sourceId };
    await expectRefusal(stranger.client.getDeduction(elsewhere), Code.NotFound, 'DEDUCTION_NOT_FOUND');
  });

  it('applies one deduction per source', async () => {
    const funds = newFunds();
    const deduction = { sourceId: randomUUID(), amountMinor: 5n };
    await funds.client.applyDeduction({ ...funds.write(), ...deduction });
    const again = funds.client.applyDeduction({ ...funds.write(), ...deduction });
    await expectRefusal(again, Code.AlreadyExists, 'DEDUCTION_ALREADY_APPLIED');
  });

  it('dates a deduction from its first part, although its debt arose when it was raised', async () => {
    const funds = newFunds();
    await funds.sell({ on: '2020-06-20', gross: 60n });
    const sourceId = randomUUID();
    const first = funds.write('2020-06-21');
    const deduct = (write: typeof first, amountMinor: bigint) =>
      funds.client.applyDeduction({ ...write, sourceId, amountMinor, raise: true });
    await deduct(first, 60n);
    const raised = funds.write('2020-06-25');
    expect(await deduct(raised, 90n)).toMatchObject({ debtAmountMinor: 30n });
    expect((await funds.client.getDeduction({ ...funds.tenant, sourceId })).occurredAt).toEqual(
      first.occurredAt,
    );
    const { debts } = await funds.client.listDebts(funds.tenant);
    expect(debts[0]!.occurredAt).toEqual(raised.occurredAt);
  });

  it('raises the deduction of a source on request, also by concurrent calls, and never lowers it', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100n });
    const sourceId = randomUUID();
    const raiseTo = (amountMinor: bigint, of?: string) =>
      funds.client.applyDeduction({ ...funds.write(), sourceId, amountMinor, saleId: of, raise: true });
    expect(await raiseTo(60n)).toMatchObject({ deductedAmountMinor: 60n, debtAmountMinor: 0n });
    await Promise.all(Array.from({ length: 5 }, () => raiseTo(130n)));
    expect(await raiseTo(70n)).toMatchObject({ deductedAmountMinor: 0n, debtAmountMinor: 0n });
    expect(await funds.balance()).toMatchObject({ scheduledAmountMinor: 0n, openDebtsAmountMinor: 30n });
    await expectRefusal(raiseTo(140n, saleId), Code.AlreadyExists, 'DEDUCTION_ALREADY_APPLIED');
  });
});
