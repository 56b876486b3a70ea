import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { startHarness } from '../../support/harness.ts';
import { type FundsCaller, fundsCaller } from './funds-caller.ts';
import { verifyFunds } from './verification/verify-funds.ts';

const ON = '2020-06-01';
/** The sum of a row may not exceed it. */
const HUGE = 9_007_199_254_740_991n;
const { HOLD_OR_DISPUTE, REFUND_IN_PROGRESS } = BlockReason;

const harness = await startHarness({ SERVICES: 'funds', DATABASE_POOL_SIZE: '25' });
afterAll(() => harness.close());

const twenty = <T>(call: (n: number) => Promise<T>) => atOnce(20, call);
const atOnce = <T>(calls: number, call: (n: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: calls }, (_, n) => call(n)));

/**
 * The number of each outcome: OK, or the reason of a refusal. Failures without a reason are counted by their message.
 */
function tally(settled: readonly PromiseSettledResult<unknown>[]): Record<string, number> {
  const outcomes = settled.map((one) =>
    one.status === 'fulfilled' ? 'OK' : (errorInfoOf(one.reason)?.reason ?? String(one.reason)),
  );
  return Object.fromEntries(
    [...Map.groupBy(outcomes, (outcome) => outcome)].map(([outcome, all]) => [outcome, all.length]),
  );
}

describe('concurrent', () => {
  let funds: FundsCaller;
  beforeEach(() => {
    funds = fundsCaller(harness.transports.inProcess);
  });
  afterEach(() => verifyFunds(harness, funds.tenant));

  it('sales of a new merchant all count in one row', async () => {
    const sold = await twenty(() => funds.sell({ on: ON, gross: 101n, fees: 1n, instant: true }));
    expect(tally(sold)).toEqual({ OK: 20 });
    expect(await funds.rows()).toEqual([[ON, 'RELEASED', 0n, 0n, 2_000n, 20]]);
  });

  it('recordings of one sale: one succeeds', async () => {
    const sale = { saleId: randomUUID(), method: 2, grossAmountMinor: 300n, installments: 3 };
    const recorded = await twenty(() => funds.client.recordSale({ ...funds.write(ON), ...sale }));
    expect(tally(recorded)).toEqual({ OK: 1, SALE_ALREADY_RECORDED: 19 });
  });

  it('recordings of distinct, held, repeated and refused sales: each has its own outcome', async () => {
    const held = randomUUID();
    const dispute = randomUUID();
    await funds.block(held, dispute, HOLD_OR_DISPUTE, ON);
    const sale = (saleId: string, grossAmountMinor = 300n) => ({
      ...funds.write(ON),
      saleId,
      method: 2,
      grossAmountMinor,
      installments: 3,
    });
    const plain = Array.from({ length: 10 }, () => sale(randomUUID()));
    const twice = randomUUID();
    const requests = [
      ...plain,
      ...plain,
      sale(held),
      sale(twice),
      sale(twice),
      { ...sale(randomUUID()), idempotencyKey: plain[0]!.idempotencyKey },
      ...[1, 2].map(() => ({ ...sale(randomUUID(), HUGE), installments: 1 })),
    ];
    const recorded = await Promise.allSettled(requests.map((request) => funds.client.recordSale(request)));
    const { IDEMPOTENCY_KEY_IN_USE = 0, ...others } = tally(recorded.slice(0, 20));
    expect(others).toEqual({ OK: 20 - IDEMPOTENCY_KEY_IN_USE });
    const [ofHeld, ...rest] = recorded.slice(20);
    expect(ofHeld).toMatchObject({ value: { installments: [{ status: 1 }, { status: 1 }, { status: 1 }] } });
    expect(tally(rest.slice(0, 2))).toEqual({ OK: 1, SALE_ALREADY_RECORDED: 1 });
    expect(Object.keys(tally(rest.slice(2, 3)))[0]).toMatch(/^IDEMPOTENCY_KEY_(REUSED|IN_USE)$/);
    expect(tally(rest.slice(3))).toEqual({ AMOUNT_OUT_OF_RANGE: 2 });
    const rows = await funds.rows();
    expect(rows.map(([, status, , , left, sales]) => [status, left, sales])).toEqual(
      Array.from({ length: 3 }, () => [
        ['BLOCKED', 100n, 1],
        ['SCHEDULED', 1_100n, 11],
      ]).flat(),
    );
  });

  it('deductions from one row use it up, and the rest is a debt, to the centavo', async () => {
    const { saleId } = await funds.sell({ on: ON, gross: 1_000n });
    const deducted = await twenty(() => funds.deduct(70n, saleId, ON));
    expect(tally(deducted)).toEqual({ OK: 20 });
    expect(await funds.balance()).toMatchObject({ scheduledAmountMinor: 0n, openDebtsAmountMinor: 400n });
  });

  it('debits of one balance: as many as it covers, without debt', async () => {
    await funds.sell({ on: ON, gross: 1_000n, instant: true });
    const debited = await twenty(() => funds.debit(randomUUID(), 70n, undefined, ON));
    expect(tally(debited)).toEqual({ OK: 14, INSUFFICIENT_AVAILABLE_BALANCE: 6 });
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 20n, openDebtsAmountMinor: 0n });
  });

  it('debits and then reversals of one refund: once each', async () => {
    await funds.sell({ on: ON, gross: 1_000n, instant: true });
    const refund = randomUUID();
    expect(tally(await twenty(() => funds.debit(refund, 30n, undefined, ON)))).toEqual({ OK: 20 });
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 970n });
    expect(tally(await twenty(() => funds.reverse(refund, ON)))).toEqual({ OK: 20 });
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 1_000n });
  });

  it('reservations of one installment: one succeeds', async () => {
    await funds.sell({ on: ON, gross: 1_000n });
    const { installments } = await funds.advanceable(ON);
    const reserved = await twenty(() => funds.reserve(installments, randomUUID(), ON));
    expect(tally(reserved)).toEqual({ OK: 1, QUOTE_STALE: 19 });
  });

  it('ends of one reservation: either paid or freed', async () => {
    await funds.sell({ on: ON, gross: 1_000n });
    const id = randomUUID();
    await funds.reserve((await funds.advanceable(ON)).installments, id, ON);
    const ends = await twenty<unknown>((n) => (n % 2 ? funds.settle(id, ON) : funds.free(id, ON)));
    const { OK, RESERVATION_FREED, RESERVATION_SETTLED, ...others } = tally(ends);
    expect([OK, RESERVATION_FREED ?? RESERVATION_SETTLED, others]).toEqual([10, 10, {}]);
    const [[, , , advanced, left] = []] = await funds.rows();
    expect([advanced, left]).toEqual(RESERVATION_FREED ? [0n, 1_000n] : [1_000n, 0n]);
  });

  it('runs of the release: each release once', async () => {
    for (let n = 0; n < 5; n += 1) await funds.sell({ on: ON, gross: 200n, installments: 2 });
    const runs = await twenty(() => funds.releaseDue('2021-01-01'));
    const installments = runs.map((run) =>
      run.status === 'fulfilled' ? run.value.releasedInstallments : Number.NaN,
    );
    expect(installments.reduce((sum, released) => sum + released)).toBe(10);
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 1_000n });
  });

  it('commands of all kinds on one sale: only domain errors, and every centavo is accounted for', async () => {
    const { saleId } = await funds.sell({ on: ON, gross: 100_000n, installments: 10 });
    const [disputes, refunds] = [[randomUUID(), randomUUID()], Array.from({ length: 5 }, () => randomUUID())];
    const { installments } = await funds.advanceable(ON);
    const settled = await atOnce<unknown>(45, (n) => {
      const [dispute, refund] = [disputes[n % 2]!, refunds[n % 5]!];
      switch (n % 9) {
        case 0:
          return funds.deduct(BigInt(n * 100 + 1), saleId, ON);
        case 1:
          return funds.block(saleId, dispute, HOLD_OR_DISPUTE, ON);
        case 2:
          return funds.unblock(saleId, dispute, BlockOutcome.RETURNED, HOLD_OR_DISPUTE, ON);
        case 3:
          return funds.block(saleId, refund, REFUND_IN_PROGRESS, ON);
        case 4:
          return funds.debit(refund, 500n, saleId, ON);
        case 5:
          return funds.reverse(refund, ON);
        case 6:
          return funds.reserve(installments.slice(n % 10, (n % 10) + 1), refund, ON);
        case 7:
          return funds.releaseDue('2020-08-01');
        default:
          return funds.sell({ on: ON, gross: 700n, instant: true });
      }
    });
    expect(Object.keys(tally(settled)).filter((outcome) => !/^[A-Z_]+$/.test(outcome))).toEqual([]);
    const { releases } = await funds.client.listFundsReleases({ ...funds.tenant, pageSize: 100 });
    const gross = releases.reduce((sum, row) => sum + row.grossAllocatedAmountMinor, 0n);
    const accounted = releases.reduce(
      (sum, row) =>
        sum +
        (row.deductionsAmountMinor + row.advancedAmountMinor) +
        (row.blockedAmountMinor + row.releasedAmountMinor + row.scheduledAmountMinor),
      0n,
    );
    // On a busy machine a sale may be refused as ACCOUNT_BUSY.
    const sales = settled.filter(({ status }, n) => n % 9 === 8 && status === 'fulfilled').length;
    expect([gross, accounted]).toEqual([100_000n + 700n * BigInt(sales), gross]);
  });
});
