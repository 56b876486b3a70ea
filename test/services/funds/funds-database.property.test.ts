import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { addDays } from '../../../services/platform/civil-date.ts';
import { startHouse, type TestHouse } from '../../support/house.ts';
import { type FundsCaller, fundsCaller } from './funds-caller.ts';
import { verifyFunds } from './verify-funds.ts';

let house: TestHouse;
beforeAll(async () => {
  house = await startHouse({ SERVICES: 'funds' });
});
afterAll(() => house.close());

const START = '2020-06-01';
const amount = fc.bigInt(1n, 2000n);
const pick = fc.nat(100);
const source = fc.constantFrom(...Array.from({ length: 4 }, () => randomUUID()));
const reason = fc.constantFrom(BlockReason.HOLD_OR_DISPUTE, BlockReason.REFUND_IN_PROGRESS);

interface Played {
  readonly funds: FundsCaller;
  readonly sales: string[];
  on: string;
}

type Command = (played: Played) => Promise<unknown>;

/** Commands in whatever state: those that the rules refuse must leave everything as it was. */
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(amount, fc.nat(100), fc.integer({ min: 1, max: 4 }), fc.boolean()).map(
      ([gross, fee, installments, instant]): Command =>
        async ({ funds, sales, on }) => {
          const fees = (gross * BigInt(fee)) / 100n;
          const sale = await funds.sell({ on, gross, fees, ...(instant ? { instant } : { installments }) });
          sales.push(sale.saleId);
        },
    ),
  },
  fc.tuple(amount, fc.option(pick)).map(
    ([amountMinor, index]): Command =>
      (played) =>
        played.funds.deduct(amountMinor, index === null ? undefined : saleAt(played, index), played.on),
  ),
  fc.tuple(pick, source, reason).map(
    ([index, id, why]): Command =>
      (played) =>
        played.funds.block(saleAt(played, index), id, why, played.on),
  ),
  fc.tuple(pick, source, reason, fc.constantFrom(BlockOutcome.RETURNED, BlockOutcome.CONSUMED)).map(
    ([index, id, why, outcome]): Command =>
      (played) =>
        played.funds.unblock(saleAt(played, index), id, outcome, why, played.on),
  ),
  fc.tuple(source, pick).map(
    ([id, count]): Command =>
      async ({ funds, on }) => {
        const { parts } = await funds.advanceable(on);
        await funds.reserve(parts.slice(0, 1 + (count % 3)), id, on);
      },
  ),
  source.map(
    (id): Command =>
      ({ funds, on }) =>
        funds.free(id, on),
  ),
  source.map(
    (id): Command =>
      ({ funds, on }) =>
        funds.settle(id, on),
  ),
  fc.tuple(source, amount, pick).map(
    ([id, amountMinor, index]): Command =>
      (played) =>
        played.funds.debit(id, amountMinor, saleAt(played, index), played.on),
  ),
  source.map(
    (id): Command =>
      ({ funds, on }) =>
        funds.reverse(id, on),
  ),
  fc.integer({ min: 1, max: 25 }).map(
    (days): Command =>
      async (played) => {
        played.on = addDays(played.on, days);
        await played.funds.releaseDue(played.on);
      },
  ),
);

test('after any commands, in a row or at once, the kept sums are those of the parts, and list and calendar agree', async () => {
  const batches = fc.array(fc.array(command, { minLength: 1, maxLength: 3 }), {
    minLength: 4,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(batches, async (steps) => {
      const played: Played = { funds: fundsCaller(house.transports.inProcess), sales: [], on: START };
      for (const batch of steps) {
        const outcomes = await Promise.allSettled(batch.map((run) => run(played)));
        for (const outcome of outcomes) if (outcome.status === 'rejected') expectNamed(outcome.reason);
      }
      await verifyFunds(house);
      await expectCalendarOfList(played.funds);
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('the check that this rests on finds a row that is off by a cent', async () => {
  const own = await startHouse({ SERVICES: 'funds' });
  const client = new Client({ connectionString: own.databaseUrl });
  await client.connect();
  try {
    await fundsCaller(own.transports.inProcess).sell({ on: START, gross: 100n });
    await verifyFunds(own);
    await client.query('update funds.release set deducted_minor = deducted_minor + 1');
    await expect(verifyFunds(own)).rejects.toThrow();
  } finally {
    await client.end();
    await own.close();
  }
});

function saleAt({ sales }: Played, index: number): string {
  return sales[index % sales.length] ?? randomUUID();
}

/** A refusal has a name; anything else is a fault of ours. */
function expectNamed(error: unknown): void {
  expect(String(error)).toMatch(/\[(not_found|failed_precondition|already_exists|invalid_argument)\]/);
}

async function expectCalendarOfList({ client, tenant }: FundsCaller): Promise<void> {
  const { releases } = await client.listFundsReleases({ ...tenant, pageSize: 100 });
  const byDate = Map.groupBy(releases, (row) => row.date);
  for (const month of new Set(releases.map((row) => row.date.slice(0, 7)))) {
    const { days } = await client.getReleaseCalendar({ ...tenant, month });
    expect(days.map((day) => day.date)).toEqual([...byDate.keys()].filter((date) => date.startsWith(month)));
    for (const day of days) {
      const rows = byDate.get(day.date)!;
      const sum = (amountOf: (row: (typeof rows)[number]) => bigint) =>
        rows.reduce((all, row) => all + amountOf(row), 0n);
      expect(day).toMatchObject({
        releasedAmountMinor: sum((row) => row.releasedAmountMinor),
        scheduledAmountMinor: sum((row) => row.scheduledAmountMinor),
        advancedAmountMinor: sum((row) => row.advancedAmountMinor),
        deductionsAmountMinor: sum((row) => row.deductionsAmountMinor),
        hasBlockedFunds: rows.some((row) => row.blockedAmountMinor > 0n),
      });
    }
  }
}
