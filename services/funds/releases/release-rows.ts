import { MAX_AMOUNT_MINOR } from '../../platform/amounts.ts';
import type { CivilDate } from '../../platform/civil-date.ts';
import { outOfRange } from '../../platform/errors.ts';
import {
  BLOCK_REASONS,
  type BlockReason,
  type Installment,
  type ReleaseStatus,
  statusOf,
} from '../sales/installment.ts';

/** The sums of the installments of one date and status. Their remaining amount is the amount that the status names. */
export interface ReleaseRow {
  readonly date: CivilDate;
  readonly status: ReleaseStatus;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly deductedMinor: bigint;
  readonly advancedMinor: bigint;
  /** Distinct sales in the row. No two installments of a sale share a date, but parts of one may be in several rows. */
  readonly salesCount: number;
  /** The number of first parts: over the rows of a date, the distinct sales of the day. */
  readonly firstParts: number;
  /** The number of parts that blocks of each reason hold. */
  readonly held: Readonly<Record<BlockReason, number>>;
}

/** An installment before and after a command; `before` is null for a new one. */
export interface InstallmentChange {
  readonly before: Installment | null;
  readonly after: Installment;
  /** For a part that was split off: what it came from, as it was before. */
  readonly splitFrom?: Installment;
}

/** Merges consecutive changes of the same installment into one. */
export function mergeChanges(changes: Iterable<InstallmentChange>): InstallmentChange[] {
  const merged = new Map<string, InstallmentChange>();
  for (const change of changes) {
    const earlier = merged.get(change.after.id);
    merged.set(change.after.id, earlier ? { ...earlier, after: change.after } : change);
  }
  return [...merged.values()].map(({ splitFrom, ...change }) => {
    const source = splitFrom && merged.get(splitFrom.id);
    const original = source ? source.before : splitFrom;
    return original ? { ...change, splitFrom: original } : change;
  });
}

/** Identifies a row within an account. */
export function rowKey(row: { date: CivilDate; status: ReleaseStatus }): string {
  return `${row.date} ${row.status}`;
}

/** Rows once others have changed. */
export function withChanged(rows: Iterable<ReleaseRow>, changed: Iterable<ReleaseRow>): ReleaseRow[] {
  return [...new Map([...rows, ...changed].map((row) => [rowKey(row), row])).values()];
}

/** original = gross - fees. */
export function rowOriginalMinor(row: ReleaseRow): bigint {
  return row.grossMinor - row.feesMinor;
}

/** The blocked, released or scheduled amount of the row, depending on its status. */
export function rowRemainingMinor(row: ReleaseRow): bigint {
  return rowOriginalMinor(row) - row.deductedMinor - row.advancedMinor;
}

/** The reasons for which at least one part of the row is held. */
export function blockedReasons(row: ReleaseRow): BlockReason[] {
  return BLOCK_REASONS.filter((reason) => row.held[reason] > 0);
}

/**
 * Applies changes of installments to the release rows of their dates. `rows` are the current rows of these dates,
 * `unchanged` the other parts of the changed installments. Returns only the rows that changed; those with salesCount 0
 * are to be deleted.
 */
export function applyToReleases(
  rows: Iterable<ReleaseRow>,
  changes: Iterable<InstallmentChange>,
  unchanged: Iterable<Installment> = [],
): ReleaseRow[] {
  const current = new Map([...rows].map((row) => [rowKey(row), row]));
  const changed = new Map<string, ReleaseRow>();
  const update = (row: { date: CivilDate; status: ReleaseStatus }, to: (row: ReleaseRow) => ReleaseRow) => {
    const key = rowKey(row);
    changed.set(key, to(changed.get(key) ?? current.get(key) ?? emptyRow(row.date, row.status)));
  };
  const merged = mergeChanges(changes);
  for (const { before, after } of merged) {
    for (const [installment, sign] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (installment === null) continue;
      const row = { date: installment.date, status: statusOf(installment) };
      update(row, (sums) => withInstallment(sums, installment, sign));
    }
  }
  for (const { date, status, sign } of salesMoved(merged, unchanged)) {
    update({ date, status }, (sums) => ({ ...sums, salesCount: sums.salesCount + sign }));
  }
  return [...changed.values()];
}

/** Where sales leave a row with their last part in it (-1), or enter one with their first (+1). */
function* salesMoved(changes: readonly InstallmentChange[], unchanged: Iterable<Installment>) {
  const keyOf = ({ saleId, number }: Installment) => `${saleId} ${number}`;
  const others = Map.groupBy(unchanged, keyOf);
  for (const [key, ofInstallment] of Map.groupBy(changes, ({ after }) => keyOf(after))) {
    const { date } = ofInstallment[0]!.after;
    const remaining = (others.get(key) ?? []).map(statusOf);
    const left = ofInstallment.flatMap(({ before }) => (before === null ? [] : [statusOf(before)]));
    const before = new Set([...remaining, ...left]);
    const after = new Set([...remaining, ...ofInstallment.map((change) => statusOf(change.after))]);
    for (const status of before) if (!after.has(status)) yield { date, status, sign: -1 };
    for (const status of after) if (!before.has(status)) yield { date, status, sign: 1 };
  }
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
    firstParts: 0,
    held: { HOLD_OR_DISPUTE: 0, REFUND_IN_PROGRESS: 0, KYC_PENDING: 0, COMPLIANCE_HOLD: 0 },
  };
}

function withInstallment(row: ReleaseRow, installment: Installment, sign: 1 | -1): ReleaseRow {
  const factor = BigInt(sign);
  const held = { ...row.held };
  for (const reason of new Set(installment.heldBy.map((block) => block.reason))) held[reason] += sign;
  return {
    ...row,
    grossMinor: row.grossMinor + factor * installment.grossMinor,
    feesMinor: row.feesMinor + factor * installment.feesMinor,
    deductedMinor: row.deductedMinor + factor * installment.deductedMinor,
    advancedMinor: row.advancedMinor + factor * installment.advancedMinor,
    firstParts: row.firstParts + (installment.part === 1 ? sign : 0),
    held,
  };
}
