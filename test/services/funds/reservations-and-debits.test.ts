import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { fundsCaller } from './funds-caller.ts';
import { verifyFunds } from './verification/verify-funds.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());
afterEach(() => verifyFunds(harness));

const newFunds = () => fundsCaller(harness.transports.inProcess);

describe('the installments of an advance', () => {
  it('reserves, pays out and frees the installments of an advance, exclusively', async () => {
    const funds = newFunds();
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 3 });
    const { installments } = await funds.advanceable('2020-06-20');
    expect(installments.map((installment) => installment.date)).toEqual([
      '2020-07-20',
      '2020-08-19',
      '2020-09-18',
    ]);
    const [paid, freed] = [randomUUID(), randomUUID()];
    expect(await funds.reserve(installments.slice(0, 2), paid, '2020-06-21')).toMatchObject({
      reservedAmountMinor: 200n,
      lastDate: '2020-08-19',
    });
    expect(await funds.reserve(installments.slice(0, 2), paid, '2020-06-21')).toMatchObject({
      reservedAmountMinor: 200n,
    });
    const taken = funds.reserve(installments, randomUUID(), '2020-06-21');
    await expectRefusal(taken, Code.FailedPrecondition, 'QUOTE_STALE');
    await funds.reserve(installments.slice(2), freed, '2020-06-21');
    await funds.block(saleId);
    await funds.deduct(30n);
    expect((await funds.rows()).map((row) => row[1])).toEqual(['SCHEDULED', 'SCHEDULED', 'SCHEDULED']);
    await funds.settle(paid, '2020-06-22');
    await funds.settle(paid, '2020-06-22');
    await funds.free(freed, '2020-06-22');
    await funds.free(freed, '2020-06-22');
    // The sale's block takes the freed installment at once; the debt waits.
    expect(await funds.rows()).toEqual([
      ['2020-07-20', 'SCHEDULED', 0n, 100n, 0n, 1],
      ['2020-08-19', 'SCHEDULED', 0n, 100n, 0n, 1],
      ['2020-09-18', 'BLOCKED', 0n, 0n, 100n, 1],
    ]);
    await expectRefusal(funds.free(paid), Code.FailedPrecondition, 'RESERVATION_SETTLED', {
      state: 'SETTLED',
    });
    await expectRefusal(funds.settle(freed), Code.FailedPrecondition, 'RESERVATION_FREED', {
      state: 'FREED',
    });
    await expectRefusal(
      funds.reserve(installments.slice(2), freed),
      Code.FailedPrecondition,
      'RESERVATION_FREED',
      {
        state: 'FREED',
      },
    );
    await expectRefusal(funds.settle(randomUUID()), Code.NotFound, 'RESERVATION_NOT_FOUND');
    const early = randomUUID();
    await funds.free(early);
    const late = funds.reserve(installments.slice(2), early);
    await expectRefusal(late, Code.FailedPrecondition, 'RESERVATION_FREED', { state: 'FREED' });
  });

  it('collects open debts from a freed installment that is not blocked', async () => {
    const funds = newFunds();
    await funds.sell({ on: '2020-06-20', gross: 100n });
    const { installments } = await funds.advanceable('2020-06-20');
    const id = randomUUID();
    await funds.reserve(installments, id, '2020-06-20');
    expect(await funds.deduct(30n)).toMatchObject({ debtAmountMinor: 30n });
    await funds.free(id, '2020-06-20');
    expect(await funds.rows()).toEqual([['2020-07-20', 'SCHEDULED', 30n, 0n, 70n, 1]]);
    expect(await funds.balance()).toMatchObject({ openDebtsAmountMinor: 0n });
  });

  it('a quote is stale once its installment has changed, and a payout fails from its date on', async () => {
    const funds = newFunds();
    await funds.sell({ on: '2020-06-20', gross: 100n });
    const quoted = await funds.advanceable('2020-06-20');
    await funds.deduct(1n);
    const now = await funds.advanceable('2020-06-20');
    expect(now.scheduleId).not.toBe(quoted.scheduleId);
    expect(now.installments).toMatchObject([{ amountMinor: 99n }]);
    const stale = funds.reserve(quoted.installments, randomUUID(), '2020-06-20');
    await expectRefusal(stale, Code.FailedPrecondition, 'QUOTE_STALE', {
      installmentId: quoted.installments[0]!.id,
    });
    const dueToday = funds.reserve(now.installments, randomUUID(), '2020-07-20');
    await expectRefusal(dueToday, Code.FailedPrecondition, 'QUOTE_STALE');
    const id = randomUUID();
    await funds.reserve(now.installments, id, '2020-07-19');
    const late = funds.settle(id, '2020-07-20');
    await expectRefusal(late, Code.FailedPrecondition, 'COVERED_PART_DUE', { date: '2020-07-20' });
  });

  it('returns due reservations instead of releasing their installments', async () => {
    const funds = newFunds();
    await funds.sell({ on: '2020-06-20', gross: 100n });
    const id = randomUUID();
    await funds.reserve((await funds.advanceable('2020-06-20')).installments, id, '2020-06-20');
    expect(await funds.releaseDue('2020-07-20')).toMatchObject({
      releasedInstallments: 0,
      dueReservations: [{ ...funds.tenant, advanceRequestId: id }],
    });
    await funds.free(id);
    expect(await funds.releaseDue('2020-07-20')).toMatchObject({
      releasedInstallments: 1,
      dueReservations: [],
    });
  });
});

describe('what is restored to an installment that an advance has reserved since', () => {
  const on = '2020-06-20';

  it.each(['deducted', 'collected of a debt', 'lost in a dispute'])(
    'stays the merchant’s when it was %s: the advance pays what it promised',
    async (how) => {
      const funds = newFunds();
      const { client, write } = funds;
      const sourceId = randomUUID();
      const deduct = () => client.applyDeduction({ ...write(on), sourceId, amountMinor: 120n });
      if (how === 'collected of a debt') await deduct();
      const { saleId } = await funds.sell({ on, gross: 300n });
      if (how === 'deducted') await deduct();
      if (how === 'lost in a dispute') {
        // Also what was deducted before is restored, so that the advance can reserve a part of what the dispute took.
        const earlier = randomUUID();
        await client.applyDeduction({ ...write(on), sourceId: earlier, saleId, amountMinor: 180n });
        await funds.block(saleId, sourceId, BlockReason.HOLD_OR_DISPUTE, on, 120n);
        await funds.unblock(saleId, sourceId, BlockOutcome.CONSUMED, BlockReason.HOLD_OR_DISPUTE, on);
        await client.reverseDeduction({ ...write(on), sourceId: earlier });
      }
      const { installments } = await funds.advanceable(on);
      const advance = randomUUID();
      expect((await funds.reserve(installments, advance, on)).reservedAmountMinor).toBe(180n);
      await client.reverseDeduction({ ...write(on), sourceId });
      await verifyFunds(harness, funds.tenant);
      await funds.settle(advance, on);
      await funds.releaseDue();
      expect(await funds.balance()).toMatchObject({ availableAmountMinor: 120n, scheduledAmountMinor: 0n });
    },
  );
});

describe('the debit of a refund', () => {
  it("debits a refund from the sale's installments held for it, then from released rows, and reverses it", async () => {
    const funds = newFunds();
    const refundCase = randomUUID();
    await funds.sell({ on: '2020-06-18', gross: 70n, instant: true });
    await funds.sell({ on: '2020-06-19', gross: 70n, instant: true });
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 210n, fees: 110n, installments: 2 });
    const short = funds.debit(refundCase, 150n, saleId);
    const available = { availableAmountMinor: '140' };
    await expectRefusal(short, Code.FailedPrecondition, 'INSUFFICIENT_AVAILABLE_BALANCE', available);
    await funds.block(saleId, refundCase, BlockReason.REFUND_IN_PROGRESS, '2020-06-21');
    await funds.debit(refundCase, 210n, saleId, '2020-06-21');
    await funds.debit(refundCase, 210n, saleId, '2020-06-21');
    const debited = [
      ['2020-06-18', 'RELEASED', 70n, 0n, 0n, 1],
      ['2020-06-19', 'RELEASED', 40n, 0n, 30n, 1],
      ['2020-07-20', 'SCHEDULED', 50n, 0n, 0n, 1],
      ['2020-08-19', 'SCHEDULED', 50n, 0n, 0n, 1],
    ];
    expect(await funds.rows()).toEqual(debited);
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 30n });
    const other = funds.debit(refundCase, 209n, saleId);
    await expectRefusal(other, Code.AlreadyExists, 'REFUND_ALREADY_DEBITED');
    await funds.reverse(refundCase);
    await funds.reverse(refundCase);
    expect((await funds.rows()).map((row) => [row[1], row[4]])).toEqual([
      ['RELEASED', 70n],
      ['RELEASED', 70n],
      ['BLOCKED', 50n],
      ['BLOCKED', 50n],
    ]);
    await expectRefusal(funds.debit(refundCase, 210n), Code.FailedPrecondition, 'REFUND_DEBIT_REVERSED', {
      state: 'REVERSED',
    });
    await expectRefusal(funds.reverse(randomUUID()), Code.NotFound, 'REFUND_DEBIT_NOT_FOUND');
  });

  it('restores a late refund return to an installment reserved since, beside its promised amount', async () => {
    const funds = newFunds();
    const [refundCase, advance] = [randomUUID(), randomUUID()];
    const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100n });
    const hold = [saleId, refundCase] as const;
    await funds.block(...hold, BlockReason.REFUND_IN_PROGRESS, '2020-06-21');
    await funds.debit(refundCase, 30n, saleId, '2020-06-21');
    await funds.unblock(...hold, BlockOutcome.RETURNED, BlockReason.REFUND_IN_PROGRESS, '2020-06-22');
    const { installments } = await funds.advanceable('2020-06-22');
    expect(await funds.reserve(installments, advance, '2020-06-22')).toMatchObject({
      reservedAmountMinor: 70n,
    });
    await funds.reverse(refundCase, '2020-06-23');
    expect(await funds.rows()).toEqual([['2020-07-20', 'SCHEDULED', 0n, 0n, 100n, 1]]);
    await verifyFunds(harness, funds.tenant);
    expect(await funds.settle(advance, '2020-06-23')).toMatchObject({ advancedAmountMinor: 70n });
    expect(await funds.rows()).toEqual([['2020-07-20', 'SCHEDULED', 0n, 70n, 30n, 1]]);
  });

  it.each([
    { amounts: [100n], left: 46n },
    { amounts: [70n, 100n], left: 46n },
    { amounts: [30n, 20n], left: 96n },
    { amounts: [undefined], left: 86n },
  ])(
    'lets disputes of $amounts that were lost meanwhile deduct a late return, which the refund had withheld from them',
    async ({ amounts, left }) => {
      const funds = newFunds();
      const refundCase = randomUUID();
      await funds.sell({ on: '2020-06-18', gross: 50n, instant: true });
      const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100n, fees: 4n, instant: true });
      await funds.debit(refundCase, 40n, saleId, '2020-06-21');
      for (const amountMinor of amounts) {
        const disputeId = randomUUID();
        const dispute = { saleId, sourceId: disputeId, reason: BlockReason.HOLD_OR_DISPUTE };
        await funds.client.blockFunds({ ...funds.write('2020-06-22'), ...dispute, amountMinor });
        const lost = { ...dispute, outcome: BlockOutcome.CONSUMED, deductUnmet: true };
        await funds.client.unblockFunds({ ...funds.write('2020-06-23'), ...lost });
      }
      await funds.reverse(refundCase, '2020-06-24');
      await funds.reverse(refundCase, '2020-06-25');
      expect((await funds.balance()).availableAmountMinor).toBe(left);
      await verifyFunds(harness, funds.tenant);
    },
  );

  it.each([
    { refund: 'returned after the loss', refunded: 40n, lostAmountMinor: 60n, left: 86n },
    { refund: 'returned before the loss', refunded: 40n, lostAmountMinor: 100n, left: 46n },
    { refund: 'of all of it, returned after the loss', refunded: 100n, lostAmountMinor: 0n, left: 146n },
  ])(
    'deducts the same for a lost dispute of the rest of a sale whenever its refund is reversed: one $refund',
    async ({ refunded, lostAmountMinor, left }) => {
      for (const reversal of ['before the end', 'after the end'] as const) {
        const funds = newFunds();
        const refundCase = randomUUID();
        await funds.sell({ on: '2020-06-18', gross: 50n, instant: true });
        const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100n, fees: 4n, instant: true });
        await funds.debit(refundCase, refunded, saleId, '2020-06-21');
        const dispute = { saleId, sourceId: randomUUID(), reason: BlockReason.HOLD_OR_DISPUTE };
        await funds.client.blockFunds({ ...funds.write('2020-06-22'), ...dispute });
        if (reversal === 'before the end') await funds.reverse(refundCase, '2020-06-23');
        const lost = { ...dispute, outcome: BlockOutcome.CONSUMED, deductUnmet: true, lostAmountMinor };
        await funds.client.unblockFunds({ ...funds.write('2020-06-24'), ...lost });
        if (reversal === 'after the end') await funds.reverse(refundCase, '2020-06-25');
        expect([reversal, (await funds.balance()).availableAmountMinor]).toEqual([reversal, left]);
        await verifyFunds(harness, funds.tenant);
      }
    },
  );

  it('deducts the same for two lost disputes of a sale, whichever of them ends first', async () => {
    for (const last of [0, 1]) {
      const funds = newFunds();
      const refundCase = randomUUID();
      await funds.sell({ on: '2020-06-18', gross: 100n, instant: true });
      const { saleId } = await funds.sell({ on: '2020-06-20', gross: 100n, instant: true });
      await funds.debit(refundCase, 30n, saleId, '2020-06-21');
      const of = { saleId, reason: BlockReason.HOLD_OR_DISPUTE };
      const loss = { ...of, outcome: BlockOutcome.CONSUMED, deductUnmet: true };
      const [first, rest] = [randomUUID(), randomUUID()];
      await funds.client.blockFunds({
        ...funds.write('2020-06-22'),
        ...of,
        sourceId: first,
        amountMinor: 60n,
      });
      await funds.client.blockFunds({ ...funds.write('2020-06-22'), ...of, sourceId: rest });
      const ends = [{ sourceId: first }, { sourceId: rest, lostAmountMinor: 10n }];
      for (const end of last === 1 ? ends : ends.toReversed()) {
        await funds.client.unblockFunds({ ...funds.write('2020-06-23'), ...loss, ...end });
      }
      await funds.reverse(refundCase, '2020-06-24');
      expect([last, (await funds.balance()).availableAmountMinor]).toEqual([last, 130n]);
      await verifyFunds(harness, funds.tenant);
    }
  });
});
