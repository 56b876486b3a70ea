import type { ReleaseCalendarDay } from '../../../proto/gen/payments/funds/v1/funds_pb.js';

/** What has become of the funds of a release, in display order. */
export const AMOUNT_KINDS = ['released', 'scheduled', 'blocked', 'advanced', 'deducted'] as const;

export type AmountKind = (typeof AMOUNT_KINDS)[number];

/** Amounts of releases by kind, in centavos. */
export type Amounts = Readonly<Record<AmountKind, bigint>>;

type Released = Pick<
  ReleaseCalendarDay,
  | 'releasedAmountMinor'
  | 'scheduledAmountMinor'
  | 'blockedAmountMinor'
  | 'advancedAmountMinor'
  | 'deductionsAmountMinor'
>;

/** The amounts of a calendar day or of a release row. */
export function amountsOf(row: Released): Amounts {
  return {
    released: row.releasedAmountMinor,
    scheduled: row.scheduledAmountMinor,
    blocked: row.blockedAmountMinor,
    advanced: row.advancedAmountMinor,
    deducted: row.deductionsAmountMinor,
  };
}

export function sumOf(all: readonly Amounts[]): Amounts {
  const sum = (kind: AmountKind) => all.reduce((total, amounts) => total + amounts[kind], 0n);
  return {
    released: sum('released'),
    scheduled: sum('scheduled'),
    blocked: sum('blocked'),
    advanced: sum('advanced'),
    deducted: sum('deducted'),
  };
}

/** The kinds with a nonzero amount. */
export function presentKinds(amounts: Amounts): AmountKind[] {
  return AMOUNT_KINDS.filter((kind) => amounts[kind] !== 0n);
}
