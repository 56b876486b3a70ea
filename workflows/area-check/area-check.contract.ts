import type { RecordKey } from '../../services/platform/tenant.ts';

export const workflowType = 'checkAreas';

/** The Temporal Schedule that starts the workflow. */
export const scheduleId = 'area-check';

/** The pairs of records that are compared, each read from two areas in the order of their keys. */
export const COMPARISONS = [
  'REFUND_DEBITS',
  'PENDING_DEBITS',
  'REFUND_HOLDS',
  'DISPUTE_HOLDS',
  'ADVANCES',
  'DISPUTE_DEDUCTIONS',
] as const;
export type ComparisonName = (typeof COMPARISONS)[number];

/** The rules that must hold across areas; see area-rules.ts. */
export const AREA_RULES = [
  'DEBIT_WITHOUT_CASE',
  'DEBIT_AMOUNT',
  'CASE_WITHOUT_DEBIT',
  'CASE_WITHOUT_PENDING_DEBIT',
  'HOLD_WITHOUT_CASE',
  'HOLD_OF_CLOSED_DISPUTE',
  'LOST_DISPUTE_WITHOUT_DEDUCTION',
  'DISPUTE_DEDUCTION_AMOUNT',
  'DEDUCTION_WITHOUT_LOST_DISPUTE',
  'ADVANCE_WITHOUT_RESERVATION',
  'ADVANCE_AMOUNT',
  'RESERVATION_WITHOUT_ADVANCE',
  'PAYOUT_MISSING',
] as const;
export type AreaRule = (typeof AREA_RULES)[number];

/** A rule that two areas break at a record. */
export interface Finding {
  readonly rule: AreaRule;
  readonly expected: string;
  readonly found: string;
}

/** A finding at its record. */
export interface AreaDifference extends RecordKey, Finding {}

/** A difference seen once, which may only be due to a change between two reads. */
export interface Candidate extends RecordKey {
  readonly comparison: ComparisonName;
  readonly rule: AreaRule;
}

export interface AreaCheckInput {
  /** How long a difference must persist to be reported. Default: five minutes. */
  readonly recheckAfterMs?: number;
  /** The progress of earlier runs, passed on when the workflow continues as new. */
  readonly progress?: AreaCheckProgress;
}

export interface AreaCheckProgress {
  /** The comparisons that are not finished, in order. */
  readonly remaining: readonly ComparisonName[];
  /** Where the first of them continues. */
  readonly after?: RecordKey;
  readonly compared: number;
  readonly candidates: readonly Candidate[];
  readonly failed: readonly ComparisonName[];
  readonly cutShort: readonly ComparisonName[];
}

export interface AreaCheckResult {
  /** Records that were compared. */
  readonly compared: number;
  /** Differences that were seen once. */
  readonly candidates: number;
  /** The first hundred differences that were seen again. The worker logs and counts all of them. */
  readonly differences: readonly AreaDifference[];
  readonly differenceCount: number;
  /** Comparisons that could not be made, because an area did not answer. */
  readonly failed: readonly ComparisonName[];
  /** Comparisons that stopped after too many differences. */
  readonly cutShort: readonly ComparisonName[];
}
