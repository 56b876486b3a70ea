import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { minutesAgo } from '../../support/ago.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { fundsCaller } from './funds-caller.ts';

const { REFUND_IN_PROGRESS } = BlockReason;

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

/** A merchant with waiting refunds. */
function merchantOf() {
  const funds = fundsCaller(harness.transports.inProcess);
  const { client, tenant, write } = funds;
  return {
    ...funds,
    earn: (gross: bigint) => funds.sell({ gross, instant: true }),
    /** Makes a refund wait, unless it is covered; the case is this many minutes old. */
    wait: async (refundCaseId: string, amountMinor: bigint, minutes = 0, saleId?: string, execution = 1) => {
      const requestedAt = minutesAgo(minutes);
      const waiting = { refundCaseId, amountMinor, execution, requestedAt, saleId };
      return (await client.awaitFunding({ ...write(), ...waiting })).covered;
    },
    /** Debits for the execution after the waiting one. */
    debit: (refundCaseId: string, amountMinor: bigint, saleId?: string) =>
      client.debitForRefund({ ...write(), refundCaseId, amountMinor, saleId, execution: 2 }),
    covered: async () => (await client.findCoveredRefund(tenant)).refundCaseId,
    end: (refundCaseId: string, execution = 1) =>
      client.endFundingWait({ ...write(), refundCaseId, execution }),
    hold: (saleId: string, refundCaseId: string) => funds.block(saleId, refundCaseId, REFUND_IN_PROGRESS),
    /** Returns the workflows that were commanded since the last call. */
    wakeUps: async () => {
      const sql = `delete from platform.outbox_command
                    where merchant_id = $1 and workflow_type = 'executeFundedRefunds' returning arguments`;
      return (await sqlOf(harness, sql, [tenant.merchantId])).length;
    },
  };
}

const uuid = () => randomUUID();

describe('a pending refund', () => {
  it('ends its execution, which can no longer debit or wait again; the next one can', async () => {
    const { client, write, earn, wait, end } = merchantOf();
    const refundCaseId = uuid();
    expect(await wait(refundCaseId, 400n)).toBe(false);
    await earn(1_000n);
    // Repeated, it waits as before.
    expect(await wait(refundCaseId, 400n)).toBe(false);
    const debit = (execution?: number) =>
      client.debitForRefund({ ...write(), refundCaseId, amountMinor: 400n, execution });
    await expectRefusal(debit(), Code.FailedPrecondition, 'REFUND_EXECUTION_ENDED');
    await end(refundCaseId);
    await expectRefusal(debit(1), Code.FailedPrecondition, 'REFUND_EXECUTION_ENDED');
    await expectRefusal(wait(refundCaseId, 2_000n), Code.FailedPrecondition, 'REFUND_EXECUTION_ENDED');
    await debit(2);
  });

  it('whose case has ended can no longer debit, whatever execution it was, and stops waiting', async () => {
    const { client, write, earn, wait, covered } = merchantOf();
    const refundCaseId = uuid();
    await wait(refundCaseId, 400n, 0, undefined, 2);
    await earn(1_000n);
    expect(await covered()).toBe(refundCaseId);
    // The end of an earlier execution arrives late.
    for (const execution of [2, 1]) await client.endRefundExecutions({ ...write(), refundCaseId, execution });
    expect(await covered()).toBeUndefined();
    for (const execution of [1, 2]) {
      const debit = client.debitForRefund({ ...write(), refundCaseId, amountMinor: 400n, execution });
      await expectRefusal(debit, Code.FailedPrecondition, 'REFUND_EXECUTION_ENDED');
    }
  });

  it('is told that the balance now covers it, and does not wait', async () => {
    const { earn, wait, covered, wakeUps } = merchantOf();
    await earn(100n);
    expect(await wait(uuid(), 100n)).toBe(true);
    expect(await covered()).toBeUndefined();
    expect(await wait(uuid(), 101n)).toBe(false);
    expect(await covered()).toBeUndefined();
    expect(await wakeUps()).toBe(0);
  });

  it('is found, oldest first, once the balance covers it, and woken by any rise', async () => {
    const { earn, deduct, wait, covered, wakeUps } = merchantOf();
    // By their ids, the young one would come first.
    const [young, old, large] = [uuid(), uuid(), uuid()].toSorted() as [string, string, string];
    await wait(young, 50n, 1);
    await wait(large, 5_000n, 9);
    await wait(old, 50n, 5);
    await earn(49n);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    await earn(1n);
    expect([await covered(), await wakeUps()]).toEqual([old, 1]);
    // A debt takes from the balance.
    await deduct(10n);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    await earn(10n);
    expect([await covered(), await wakeUps()]).toEqual([old, 1]);
  });

  it('is woken by one workflow, however many commits it takes until it is debited, which keeps its turn in the outbox', async () => {
    const { tenant, earn, wait, debit, wakeUps } = merchantOf();
    const [mine, other] = [uuid(), uuid()];
    await wait(mine, 50n, 1);
    await wait(other, 80n);
    await earn(50n);
    const starts = `select id, workflow_id, starts, due_at from platform.outbox_command where merchant_id = $1`;
    type Start = { id: string; workflow_id: string; starts: number; due_at: Date };
    const started = () => sqlOf<Start>(harness, starts, [tenant.merchantId]);
    const [first] = await started();
    const timeOf = ({ id }: Start) => id.slice(0, 13);
    for (let commits = 0; commits < 5; commits += 1) await earn(1n);
    expect(await started()).toEqual([{ ...first, id: expect.any(String) }]);
    const [latest] = await started();
    expect(latest!.id).not.toBe(first!.id);
    // An alert watches how long commands have waited.
    expect(timeOf(latest!)).toBe(timeOf(first!));
    // Its workflow may be about to end, so one that is running is started again, too, and at once.
    const run = `update platform.outbox_command set starts = 1, due_at = now() + interval '1 hour' where merchant_id = $1`;
    await sqlOf(harness, run, [tenant.merchantId]);
    await earn(1n);
    expect(await started()).toMatchObject([{ workflow_id: first!.workflow_id, starts: 0 }]);
    const [again] = await started();
    expect(again!.due_at.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(timeOf(again!) > timeOf(first!)).toBe(true);
    await debit(mine, 50n);
    expect(await wakeUps()).toBe(1);
    await earn(80n);
    expect(await wakeUps()).toBe(1);
  });

  it('is covered by what is blocked for its own case, not for another', async () => {
    const { sell, wait, hold, unblock, covered, wakeUps, reserve, free, advanceable } = merchantOf();
    const [mine, other] = [uuid(), uuid()];
    const { saleId } = await sell({ gross: 300n, installments: 3 });
    await wait(mine, 300n, 0, saleId);
    await hold(saleId, other);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    await unblock(saleId, other, BlockOutcome.RETURNED, REFUND_IN_PROGRESS);
    const advance = uuid();
    await reserve((await advanceable()).installments.slice(0, 1), advance);
    await hold(saleId, mine);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    await free(advance);
    expect([await covered(), await wakeUps()]).toEqual([mine, 1]);
    await unblock(saleId, mine, BlockOutcome.RETURNED, REFUND_IN_PROGRESS);
    expect(await covered()).toBeUndefined();
  });

  it('waits while refunds and lost disputes have not left enough of its sale, however high the balance', async () => {
    const { earn, block, unblock, wait, end, debit, reverse, covered, wakeUps } = merchantOf();
    const { saleId } = await earn(100n);
    await earn(1_000n);
    // Its first refund may be more than the sale.
    const first = uuid();
    await wait(first, 1_200n, 0, saleId);
    await earn(100n);
    expect([await covered(), await wakeUps()]).toEqual([first, 1]);
    await end(first);
    const ids = [uuid(), uuid(), uuid()] as const;
    // Two payments of the sale are refunded at the same time.
    const debits = await Promise.allSettled(ids.map((id) => debit(id, 60n, saleId)));
    expect(debits.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const debited = ids[debits.findIndex(({ status }) => status === 'fulfilled')]!;
    const [mine, dispute] = [uuid(), uuid()];
    const refused = debit(mine, 41n, saleId);
    const left = { availableAmountMinor: '40' };
    await expectRefusal(refused, Code.FailedPrecondition, 'INSUFFICIENT_AVAILABLE_BALANCE', left);
    expect(await wait(mine, 90n, 0, saleId)).toBe(false);
    await block(saleId, dispute, undefined, undefined, 10n);
    await unblock(saleId, dispute, BlockOutcome.CONSUMED);
    await earn(1_000n);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    await reverse(debited);
    expect([await covered(), await wakeUps()]).toEqual([mine, 1]);
    await expectRefusal(
      debit(uuid(), 91n, saleId),
      Code.FailedPrecondition,
      'INSUFFICIENT_AVAILABLE_BALANCE',
    );
    await debit(mine, 90n, saleId);
  });

  it("is woken by another refund's debit after which a dispute returns its excess", async () => {
    const { client, write, earn, debit, block, wait, covered, wakeUps } = merchantOf();
    const [saleId, early, other, mine] = [uuid(), uuid(), uuid(), uuid()];
    await earn(400n);
    await debit(early, 400n, saleId);
    const sale = { saleId, method: 1, grossAmountMinor: 1_000n, installments: 1 };
    await client.recordSale({ ...write(), ...sale });
    // The rest of the sale is 600; the other refund holds the other 400.
    await block(saleId);
    await block(saleId, other, REFUND_IN_PROGRESS, undefined, 400n);
    await wait(mine, 400n);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    await debit(other, 400n, saleId);
    expect([await covered(), await wakeUps()]).toEqual([mine, 1]);
  });

  it('stops waiting once it is debited; its debit wakes no other refund, its reversal does', async () => {
    const { earn, wait, debit, reverse, covered, wakeUps } = merchantOf();
    const [one, other] = [uuid(), uuid()];
    await wait(one, 60n, 5);
    await wait(other, 40n, 1);
    await earn(100n);
    expect(await wakeUps()).toBe(1);
    await debit(one, 60n);
    expect([await covered(), await wakeUps()]).toEqual([other, 0]);
    await debit(other, 40n);
    expect(await covered()).toBeUndefined();
    expect(await wait(other, 40n, 0, undefined, 2)).toBe(true);
    await earn(100n);
    expect([await covered(), await wakeUps()]).toEqual([undefined, 0]);
    const third = uuid();
    await wait(third, 160n);
    await reverse(one);
    expect([await covered(), await wakeUps()]).toEqual([third, 1]);
  });

  it('keeps waiting when the end of an earlier execution arrives late', async () => {
    const { earn, wait, end, covered } = merchantOf();
    const id = uuid();
    for (const execution of [1, 2]) await wait(id, 10n, 0, undefined, execution);
    await end(id, 1);
    await earn(10n);
    expect(await covered()).toBe(id);
    for (let times = 0; times < 2; times += 1) await end(id, 2);
    expect(await covered()).toBeUndefined();
  });

  it('is always woken before the balance covers it, under any concurrency', async () => {
    const amount = fc.bigInt(1n, 60n);
    type Deed = (
      m: ReturnType<typeof merchantOf>,
      ids: readonly string[],
      sales: string[],
    ) => Promise<unknown>;
    const pick = fc.nat(3);
    const deed: fc.Arbitrary<Deed> = fc.oneof(
      amount.map(
        (gross): Deed =>
          async (m, _, sales) =>
            sales.push((await m.earn(gross)).saleId),
      ),
      amount.map(
        (gross): Deed =>
          async (m, _, sales) =>
            sales.push((await m.sell({ gross: gross + 3n, installments: 2 })).saleId),
      ),
      fc.tuple(pick, amount).map(
        ([n, most]): Deed =>
          (m, ids, sales) =>
            m.wait(ids[n]!, most, n, sales[n]),
      ),
      fc.tuple(pick, amount).map(
        ([n, most]): Deed =>
          (m, ids, sales) =>
            m.debit(ids[n]!, most, sales[n]),
      ),
      pick.map(
        (n): Deed =>
          (m, ids) =>
            m.reverse(ids[n]!),
      ),
      pick.map(
        (n): Deed =>
          (m, ids, sales) =>
            m.hold(sales[n]!, ids[n]!),
      ),
      fc.tuple(pick, fc.constantFrom(BlockOutcome.RETURNED, BlockOutcome.CONSUMED)).map(
        ([n, outcome]): Deed =>
          (m, ids, sales) =>
            m.unblock(sales[n]!, ids[n]!, outcome, REFUND_IN_PROGRESS),
      ),
      amount.map(
        (most): Deed =>
          (m) =>
            m.deduct(most),
      ),
    );
    // At least one sequence leads to a refund that the balance covers; few random ones do.
    const coveredLater: Deed[][] = [
      [(m, ids) => m.wait(ids[0]!, 20n, 0)],
      [(m) => m.earn(15n), (m) => m.earn(15n)],
    ];
    let coveredOnce = 0;
    const rounds = fc.array(fc.array(deed, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(rounds, async (steps) => {
        const m = merchantOf();
        const ids = Array.from({ length: 4 }, uuid);
        const sales: string[] = [];
        let owed: string | undefined;
        for (const step of steps) {
          await Promise.allSettled(step.map((run) => run(m, ids, sales)));
          const [covered, wakeUps] = [await m.covered(), await m.wakeUps()];
          if (covered !== undefined && owed === undefined) expect(wakeUps).toBeGreaterThan(0);
          owed = covered;
          if (covered !== undefined) coveredOnce += 1;
        }
      }),
      { numRuns: 8, examples: [[coveredLater]] },
    );
    expect(coveredOnce).toBeGreaterThan(0);
  });
});

describe('a block with `once`', () => {
  it('is not repeated after it was lifted, unlike any other', async () => {
    const { client, write, earn, unblock, balance } = merchantOf();
    const { saleId } = await earn(100n);
    const block = { saleId, sourceId: uuid(), reason: REFUND_IN_PROGRESS };
    const held = async (once: boolean) =>
      (await client.blockFunds({ ...write(), ...block, once })).blockedAmountMinor;
    for (let times = 0; times < 2; times += 1) expect(await held(true)).toBe(100n);
    await unblock(saleId, block.sourceId, BlockOutcome.RETURNED, REFUND_IN_PROGRESS);
    expect(await held(true)).toBe(0n);
    expect(await balance()).toMatchObject({ availableAmountMinor: 100n, blockedAmountMinor: 0n });
    expect(await held(false)).toBe(100n);
    expect(await held(true)).toBe(100n);
  });
});
