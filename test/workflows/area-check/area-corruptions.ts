import type { AreaRule } from '../../../workflows/area-check/area-check.contract.ts';
import type { AreaBooks } from './area-books.ts';

/** Breaks a rule at one record by SQL, and repairs it; both statements take the record's id as $1. */
export interface AreaCorruption {
  readonly rule: AreaRule;
  readonly record: Exclude<keyof AreaBooks, 'merchant'>;
  readonly breaking: string;
  readonly repair: string;
}

const refundCase = (change: string) => `update refunds.refund_case set ${change} where id = $1`;
const debit = (change: string) => `update funds.refund_debit set ${change} where refund_case_id = $1`;
const reservation = (change: string) =>
  `update funds.reservation set ${change} where advance_request_id = $1`;
const advance = (change: string) => `update advances.request set ${change} where id = $1`;

const lostBlock = (outcome: string) => `update funds.block set outcome = '${outcome}' where source_id = $1`;
const dispute = (change: string) => `update refunds.dispute set ${change} where id = $1`;
const DEDUCTED_AGAIN = {
  rule: 'DISPUTE_DEDUCTION_AMOUNT',
  breaking: `insert into funds.deduction (merchant_id, environment, source_id, sale_id, amount_minor, open_debt_minor, occurred_at)
    select merchant_id, environment, source_id, sale_id, 1000, 0, closed_at from funds.block where source_id = $1`,
  repair: 'delete from funds.deduction where source_id = $1',
} as const;

const NO_PAYOUT = `payout_submitted_at = null, payout_attempts = 0, payout_last_answer_at = null,
  payout_last_answer = null, payout_accepted_at = null, payout_provider_id = null`;
const ACCEPTED_PAYOUT = `payout_submitted_at = now(), payout_attempts = 1, payout_last_answer_at = now(),
  payout_last_answer = 'ACCEPTED', payout_last_reason = null, payout_accepted_at = now(), payout_provider_id = 'po_1'`;

export const AREA_CORRUPTIONS: readonly AreaCorruption[] = [
  {
    rule: 'DEBIT_WITHOUT_CASE',
    record: 'succeeded',
    breaking: refundCase("status = 'FAILED'"),
    repair: refundCase("status = 'SUCCEEDED'"),
  },
  {
    rule: 'DEBIT_AMOUNT',
    record: 'succeeded',
    breaking: refundCase('amount_minor = amount_minor + 1'),
    repair: refundCase('amount_minor = amount_minor - 1'),
  },
  {
    rule: 'CASE_WITHOUT_DEBIT',
    record: 'succeeded',
    breaking: debit('reversed_at = now()'),
    repair: debit('reversed_at = null'),
  },
  {
    rule: 'CASE_WITHOUT_PENDING_DEBIT',
    record: 'unfunded',
    breaking:
      'update funds.pending_debit set refund_case_id = md5($1::text)::uuid where refund_case_id = $1::text::uuid',
    repair:
      'update funds.pending_debit set refund_case_id = $1::text::uuid where refund_case_id = md5($1::text)::uuid',
  },
  {
    rule: 'HOLD_WITHOUT_CASE',
    record: 'reviewed',
    breaking: refundCase("status = 'CANCELED'"),
    repair: refundCase("status = 'MERCHANT_REVIEW'"),
  },
  {
    rule: 'HOLD_OF_CLOSED_DISPUTE',
    record: 'dispute',
    breaking: "update refunds.dispute set closed_at = opened_at, outcome = 'WON' where id = $1",
    repair: 'update refunds.dispute set closed_at = null, outcome = null where id = $1',
  },
  {
    rule: 'LOST_DISPUTE_WITHOUT_DEDUCTION',
    record: 'lostRest',
    breaking: lostBlock('RETURNED'),
    repair: lostBlock('CONSUMED'),
  },
  { ...DEDUCTED_AGAIN, record: 'lostPart' },
  { ...DEDUCTED_AGAIN, record: 'lostRest' },
  { ...DEDUCTED_AGAIN, record: 'lostMore' },
  {
    rule: 'DISPUTE_DEDUCTION_AMOUNT',
    record: 'lostPart',
    breaking: dispute('amount_minor = amount_minor + 1'),
    repair: dispute('amount_minor = amount_minor - 1'),
  },
  {
    rule: 'DEDUCTION_WITHOUT_LOST_DISPUTE',
    record: 'lostPart',
    breaking: dispute("outcome = 'WON'"),
    repair: dispute("outcome = 'LOST'"),
  },
  {
    rule: 'ADVANCE_WITHOUT_RESERVATION',
    record: 'released',
    breaking: reservation("state = 'HELD'"),
    repair: reservation("state = 'SETTLED'"),
  },
  {
    rule: 'ADVANCE_AMOUNT',
    record: 'released',
    breaking: reservation('amount_minor = amount_minor + 1'),
    repair: reservation('amount_minor = amount_minor - 1'),
  },
  {
    rule: 'RESERVATION_WITHOUT_ADVANCE',
    record: 'held',
    breaking: advance("status = 'REFUSED'"),
    repair: advance("status = 'APPROVED'"),
  },
  {
    rule: 'PAYOUT_MISSING',
    record: 'released',
    breaking: advance(NO_PAYOUT),
    repair: advance(ACCEPTED_PAYOUT),
  },
  {
    // A workflow that submits it again would have done so within the hour.
    rule: 'PAYOUT_MISSING',
    record: 'released',
    breaking: advance(`payout_last_answer_at = now() - interval '3 hours', payout_last_answer = 'FAILED',
      payout_last_reason = 'no answer', payout_accepted_at = null, payout_provider_id = null`),
    // What the bank returned awaits operations, however long.
    repair: advance("payout_last_answer = 'RETURNED', payout_provider_id = 'po_1'"),
  },
];
