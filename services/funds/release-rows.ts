import type { CivilDate } from '../platform/civil-date.ts';
import { outOfRange } from '../platform/errors.ts';
import {
  BLOCK_REASONS,
  type BlockReason,
  blocksOf,
  type Installment,
  type ReleaseStatus,
  statusOf,
} from './installment.ts';

/** The largest sum that a row or a day may reach: JSON numbers are exact up to it. */
export const MAX_AMOUNT_MINOR = 9_007_199_254_740_991n;

/** The sums of the installments of one date and status. Their remaining amount is the amount that the status names. */
export interface ReleaseRow {
  readonly date: CivilDate;
  readonly status: ReleaseStatus;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly deductedMinor: bigint;
  readonly advancedMinor: bigint;
  /** Distinct sales: the number of installments, since no two installments of a sale share a date. */
  readonly salesCount: number;
  /** The number of installments that each reason blocks. */
  readonly held: Readonly<Record<BlockReason, number>>;
}

/** An installment before and after a command; `before` is null for a new one. */
export interface InstallmentChange {
  readonly before: Installment | null;
  readonly after: Installment;
}

/** Identifies a row within an account. */
export function rowKey(row: { date: CivilDate; status: ReleaseStatus }): string {
  return `${row.date} ${row.status}`;
}

/** original = gross - fees. */
export function rowOriginalMinor(row: ReleaseRow): bigint {
  return row.grossMinor - row.feesMinor;
}

/** The blocked, released or scheduled amount of the row, depending on its status. */
export function rowRemainingMinor(row: ReleaseRow): bigint {
  return rowOriginalMinor(row) - row.deductedMinor - row.advancedMinor;
}

/** The reasons that block at least one installment of the row. */
export function blockedReasons(row: ReleaseRow): BlockReason[] {
  return BLOCK_REASONS.filter((reason) => row.held[reason] > 0);
}

/**
 * Applies changes of installments to the release rows of their dates. `rows` are the current rows of these dates.
 * Returns only the rows that changed; those with salesCount 0 are to be deleted.
 */
export function applyToReleases(
  rows: Iterable<ReleaseRow>,
  changes: Iterable<InstallmentChange>,
): ReleaseRow[] {
  const current = new Map([...rows].map((row) => [rowKey(row), row]));
  const changed = new Map<string, ReleaseRow>();
  const add = (installment: Installment, sign: 1 | -1) => {
    const status = statusOf(installment);
    const key = rowKey({ date: installment.date, status });
    const row = changed.get(key) ?? current.get(key) ?? emptyRow(installment.date, status);
    changed.set(key, withInstallment(row, installment, sign));
  };
  for (const { before, after } of changes) {
    if (before !== null) add(before, -1);
    add(after, 1);
  }
  return [...changed.values()];
}

/**
 * Refuses rows whose sums exceed the exact range: OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) with the first such date. A day's
 * gross bounds every other sum of the day and of its rows, and only a new sale raises it, so no later command on the
 * day's installments can exceed the range.
 */
export function requireExactSums(rows: Iterable<ReleaseRow>): void {
  const grossByDate = new Map<CivilDate, bigint>();
  for (const { date, grossMinor } of rows) {
    const sum = (grossByDate.get(date) ?? 0n) + grossMinor;
    if (sum > MAX_AMOUNT_MINOR) {
      const message = `the sums of ${date} would exceed ${MAX_AMOUNT_MINOR}`;
      throw outOfRange('AMOUNT_OUT_OF_RANGE', message, { date });
    }
    grossByDate.set(date, sum);
  }
}

function emptyRow(date: CivilDate, status: ReleaseStatus): ReleaseRow {
  return {
    date,
    status,
    grossMinor: 0n,
    feesMinor: 0n,
    deductedMinor: 0n,
    advancedMinor: 0n,
    salesCount: 0,
    held: { HOLD_OR_DISPUTE: 0, REFUND_IN_PROGRESS: 0, KYC_PENDING: 0, COMPLIANCE_HOLD: 0 },
  };
}

function withInstallment(row: ReleaseRow, installment: Installment, sign: 1 | -1): ReleaseRow {
  const factor = BigInt(sign);
  const held = { ...row.held };
  for (const reason of new Set(blocksOf(installment).map((block) => block.reason))) held[reason] += sign;
  return {
    ...row,
    grossMinor: row.grossMinor + factor * installment.grossMinor,
    feesMinor: row.feesMinor + factor * installment.feesMinor,
    deductedMinor: row.deductedMinor + factor * installment.deductedMinor,
    advancedMinor: row.advancedMinor + factor * installment.advancedMinor,
    salesCount: row.salesCount + sign,
    held,
  };
}
