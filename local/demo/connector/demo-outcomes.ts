/** What the demo connector does with a refund, by the last two digits of its amount in centavos; others succeed. */
export type RefundOutcome = 'SUCCEEDS' | 'FAILS' | 'FAILS_LATE' | 'TIMES_OUT' | 'STAYS_SILENT' | 'REFUSED';

/** What the demo connector does with a payout, by the last two digits of its net amount; others are accepted. */
export type PayoutOutcome = 'ACCEPTED' | 'ACCEPTED_LATER' | 'NEVER_ACCEPTED';

const REFUND_OUTCOMES: Readonly<Record<string, RefundOutcome>> = {
  '01': 'FAILS',
  '02': 'FAILS_LATE',
  '03': 'TIMES_OUT',
  '04': 'STAYS_SILENT',
  '05': 'REFUSED',
};

const PAYOUT_OUTCOMES: Readonly<Record<string, PayoutOutcome>> = {
  '01': 'ACCEPTED_LATER',
  '02': 'NEVER_ACCEPTED',
};

/** The calls about a refund that time out before one is answered. */
export const TIMED_OUT_CALLS = 2;
/** The calls about a payout that are refused before one is accepted. */
export const REFUSED_CALLS = 3;
/** From the acceptance of a refund to its outcome. */
export const OUTCOME_AFTER_MS = 3_000;
/** From the acceptance of a refund to its late return. */
export const RETURN_AFTER_MS = 15_000;

export const refundOutcomeOf = (amountMinor: bigint): RefundOutcome =>
  REFUND_OUTCOMES[endingOf(amountMinor)] ?? 'SUCCEEDS';

export const payoutOutcomeOf = (amountMinor: bigint): PayoutOutcome =>
  PAYOUT_OUTCOMES[endingOf(amountMinor)] ?? 'ACCEPTED';

const endingOf = (amountMinor: bigint) => String(amountMinor % 100n).padStart(2, '0');
