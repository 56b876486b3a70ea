import type { CivilDate } from '../platform/civil-date.ts';
import {
  BLOCK_REASONS,
  type BlockReason,
  blocksOf,
  type Part,
  type ReleaseStatus,
  statusOf,
} from './installment.ts';

/** The largest sum that a row or a day may reach: JSON numbers are exact up to it. */
export const MAX_AMOUNT_MINOR = 9_007_199_254_740_991n;

/** The sums of the parts of one date and status. What is left of them is the amount its status names. */
export interface ReleaseRow {
  readonly date: CivilDate;
  readonly status: ReleaseStatus;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly deductedMinor: bigint;
  readonly advancedMinor: bigint;
  /** Distinct sales; as many as parts, since no two parts of a sale share a date. */
  readonly salesCount: number;
  /** How many parts each reason holds. */
  readonly held: Readonly<Record<BlockReason, number>>;
}

/** A part before and after a command; `before` is null for a new one. */
export interface PartChange {
  readonly before: Part | null;
  readonly after: Part;
}

/** Names a row within an account. */
export function rowKey(row: { date: CivilDate; status: ReleaseStatus }): string {
  return `${row.date} ${row.status}`;
}

/** original = gross - fees. */
export function rowOriginalMinor(row: ReleaseRow): bigint {
  return row.grossMinor - row.feesMinor;
}

/** What is blocked, released or scheduled in the row, as its status says. */
export function rowLeftMinor(row: ReleaseRow): bigint {
  return rowOriginalMinor(row) - row.deductedMinor - row.advancedMinor;
}

/** The reasons that hold at least one part of the row. */
export function blockedReasons(row: ReleaseRow): BlockReason[] {
  return BLOCK_REASONS.filter((reason) => row.held[reason] > 0);
}

/**
 * Carries changes of parts over to the rows they touch. `rows` holds the present rows of the touched dates; the answer
 * holds the touched rows alone, those with salesCount 0 to be dropped.
 */
export function carryOver(rows: Iterable<ReleaseRow>, changes: Iterable<PartChange>): ReleaseRow[] {
  const known = new Map([...rows].map((row) => [rowKey(row), row]));
  const touched = new Map<string, ReleaseRow>();
  const add = (part: Part, sign: 1 | -1) => {
    const status = statusOf(part);
    const key = rowKey({ date: part.date, status });
    const row = touched.get(key) ?? known.get(key) ?? emptyRow(part.date, status);
    touched.set(key, withPart(row, part, sign));
  };
  for (const { before, after } of changes) {
    if (before !== null) add(before, -1);
    add(after, 1);
  }
  return [...touched.values()];
}

/**
 * The first date whose sums would leave the exact range. The gross of a day bounds every sum of its rows and of the
 * day, and only a new sale raises it, so no later command on the day's parts can fail for its range.
 */
export function dayOutOfRange(rows: Iterable<ReleaseRow>): CivilDate | null {
  const grossByDate = new Map<CivilDate, bigint>();
  for (const { date, grossMinor } of rows) {
    const sum = (grossByDate.get(date) ?? 0n) + grossMinor;
    if (sum > MAX_AMOUNT_MINOR) return date;
    grossByDate.set(date, sum);
  }
  return null;
}

function emptyRow(date: CivilDate, status: ReleaseStatus): ReleaseRow {
  const held = { HOLD_OR_DISPUTE: 0, REFUND_IN_PROGRESS: 0, KYC_PENDING: 0, COMPLIANCE_HOLD: 0 };
  const sums = { grossMinor: 0n, feesMinor: 0n, deductedMinor: 0n, advancedMinor: 0n };
  return { date, status, ...sums, salesCount: 0, held };
}

function withPart(row: ReleaseRow, part: Part, sign: 1 | -1): ReleaseRow {
  const times = BigInt(sign);
  const held = { ...row.held };
  for (const reason of new Set(blocksOf(part).map((block) => block.reason))) held[reason] += sign;
  return {
    ...row,
    grossMinor: row.grossMinor + times * part.grossMinor,
    feesMinor: row.feesMinor + times * part.feesMinor,
    deductedMinor: row.deductedMinor + times * part.deductedMinor,
    advancedMinor: row.advancedMinor + times * part.advancedMinor,
    salesCount: row.salesCount + sign,
    held,
  };
}
