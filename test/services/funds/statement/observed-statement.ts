import { expect } from 'vitest';
import type { Balances, Movement } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { addDays, civilDateAt } from '../../../../services/platform/civil-date.ts';
import type { FundsCaller } from '../funds-caller.ts';

type Range = { readonly fromDate?: string; readonly toDate?: string };

const PARTS = ['availableAmountMinor', 'scheduledAmountMinor', 'blockedAmountMinor'] as const;
/** Dates that split a statement at both ends and between. */
const RANGES = 6;

/** The three amounts of balances. */
export const partsOf = (balances: Balances | undefined) => PARTS.map((part) => balances![part]);

const plus = (one: readonly bigint[], other: readonly bigint[]) =>
  one.map((amount, index) => amount + other[index]!);

/** The statement of a range as it is exported. */
export async function exported({ client, tenant }: FundsCaller, range: Range = {}) {
  const movements: Movement[] = [];
  const balances: { opening?: Balances | undefined; closing?: Balances | undefined } = {};
  for await (const message of client.exportMovements({ ...tenant, ...range })) {
    balances.opening ??= message.openingBalance;
    balances.closing = message.closingBalance;
    movements.push(...message.movements);
  }
  return { ...balances, movements };
}

/** The statement of a range as its pages list it. */
export async function listed({ client, tenant }: FundsCaller, range: Range = {}, pageSize = 7) {
  const movements: Movement[] = [];
  for (let pageToken = ''; ; ) {
    const page = await client.listMovements({
      ...tenant,
      ...range,
      pageSize,
      pageToken,
      includeTotals: true,
    });
    movements.push(...page.movements);
    pageToken = page.nextPageToken;
    const { openingBalance: opening, closingBalance: closing, totals } = page;
    if (pageToken === '') return { opening, closing, movements, totals };
  }
}

/**
 * Expects of the whole statement and of ranges of it: pages and export are the same; the opening balance plus the movements
 * is the closing balance, and each movement has the balance up to it; totals are the sums; a range opens as the one before
 * it closes, and the last one closes with the balance of the account.
 */
export async function expectStatement(caller: FundsCaller): Promise<void> {
  const { movements } = await exported(caller);
  const dates = [...new Set(movements.map(dateOf))];
  const picked = dates.filter((_, index) => index % Math.ceil(dates.length / RANGES) === 0);
  // The day before a movement, too, but no day twice.
  const ends = new Set(picked.map((date, index) => addDays(date, -(index % 2))));
  let [fromDate, before]: [string | undefined, bigint[]] = [undefined, [0n, 0n, 0n]];
  for (const toDate of [...ends, undefined]) {
    const range = { ...(fromDate && { fromDate }), ...(toDate && { toDate }) };
    const pages = await listed(caller, range);
    const { totals, ...statement } = pages;
    expect(await exported(caller, range)).toEqual(statement);
    expect(partsOf(statement.opening)).toEqual(before);
    let balance = before;
    const sums = new Map<number, bigint[]>();
    for (const { kind, change, balance: after } of statement.movements) {
      balance = plus(balance, partsOf(change));
      expect(partsOf(after)).toEqual(balance);
      sums.set(kind, plus(sums.get(kind) ?? [0n, 0n, 0n], partsOf(change)));
    }
    expect(partsOf(statement.closing)).toEqual(balance);
    expect(totals.map(({ kind, change }) => [kind, partsOf(change)])).toEqual(
      [...sums].sort(([one], [other]) => one - other),
    );
    [fromDate, before] = [toDate && addDays(toDate, 1), balance];
  }
  const now = await caller.balance();
  expect(before).toEqual([now.availableAmountMinor, now.scheduledAmountMinor, now.blockedAmountMinor]);
}

const dateOf = ({ occurredAt }: Movement) => civilDateAt(new Date(Number(occurredAt!.seconds) * 1_000));
