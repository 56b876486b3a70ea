import { HOUR_MS } from '../../services/platform/durations.ts';
import type { AreaRule, Finding } from './area-check.contract.ts';

/** A payout that is not accepted is submitted again at most an hour later; this leaves time for an outage of the worker. */
const PAYOUT_SILENT_MS = 2 * HOUR_MS;

interface Amount {
  readonly amountMinor: bigint;
}

const finding = (rule: AreaRule, expected: string, found: string): Finding[] => [{ rule, expected, found }];

/** The debit of a refund that is not reversed belongs to a case in PROCESSING or SUCCEEDED, and the reverse. */
export function checkDebit(debit: Amount | undefined, refundCase: Amount | undefined): Finding[] {
  if (debit === undefined) return finding('CASE_WITHOUT_DEBIT', 'a debit that is not reversed', 'none');
  if (refundCase === undefined) {
    return finding('DEBIT_WITHOUT_CASE', 'a case in PROCESSING or SUCCEEDED', 'none');
  }
  if (debit.amountMinor === refundCase.amountMinor) return [];
  return finding('DEBIT_AMOUNT', String(refundCase.amountMinor), String(debit.amountMinor));
}

/**
 * A case in FUNDING_REQUIRED that only awaits the balance has a pending debit. With another blocker it leaves the queue
 * until the blocker is cleared. A pending debit without such a case is not a difference: it is removed from the queue once
 * the balance covers it.
 */
export function checkPendingDebit(
  debit: object | undefined,
  refundCase: { readonly blockers: number } | undefined,
): Finding[] {
  if (debit !== undefined || refundCase === undefined || refundCase.blockers > 1) return [];
  return finding('CASE_WITHOUT_PENDING_DEBIT', 'a pending debit', 'none');
}

/** A REFUND_IN_PROGRESS block belongs to an open case: only our refund cases block for this reason. */
export function checkRefundHold(block: object | undefined, openCase: object | undefined): Finding[] {
  if (block === undefined || openCase !== undefined) return [];
  return finding('HOLD_WITHOUT_CASE', 'an open refund case', 'none');
}

/**
 * A HOLD_OR_DISPUTE block of one of our disputes belongs to an open one. Other teams hold funds for this reason too, so
 * an unknown source is not a difference.
 */
export function checkDisputeHold(
  block: object | undefined,
  dispute: { readonly isClosed: boolean } | undefined,
): Finding[] {
  if (block === undefined || !dispute?.isClosed) return [];
  return finding('HOLD_OF_CLOSED_DISPUTE', 'an open dispute', 'a closed dispute');
}

/**
 * A lost dispute was deducted: its amount, which is 0 if nothing was left of a payment without a sale, or the rest of
 * its sale if that is less. A dispute that is open or was won was not deducted. Other teams deduct too, so an unknown
 * source is not a difference.
 */
export function checkDisputeDeduction(
  deduction: (Amount & { readonly saleRestMinor: bigint | undefined }) | undefined,
  dispute: { readonly isLost: boolean; readonly amountMinor: bigint | undefined } | undefined,
): Finding[] {
  if (dispute === undefined) return [];
  if (!dispute.isLost) {
    if (deduction === undefined) return [];
    return finding('DEDUCTION_WITHOUT_LOST_DISPUTE', 'a lost dispute', 'a dispute that is open or was won');
  }
  if (deduction === undefined) {
    if (dispute.amountMinor === 0n) return [];
    return finding('LOST_DISPUTE_WITHOUT_DEDUCTION', 'a deduction', 'none');
  }
  const { amountMinor, saleRestMinor } = deduction;
  if (saleRestMinor !== undefined && saleRestMinor < 0n) {
    const found = `${amountMinor}, which is ${-saleRestMinor} too much`;
    return finding('DISPUTE_DEDUCTION_AMOUNT', 'no more than was left of the sale', found);
  }
  // Without an amount it was all that was left of the sale when the dispute was lost, which only funds know.
  if (dispute.amountMinor === undefined || amountMinor === dispute.amountMinor) return [];
  if (amountMinor < dispute.amountMinor && saleRestMinor === 0n) return [];
  return finding('DISPUTE_DEDUCTION_AMOUNT', String(dispute.amountMinor), String(amountMinor));
}

export interface AdvanceState extends Amount {
  readonly status: 'PENDING_REVIEW' | 'APPROVED' | 'RELEASED' | 'REFUSED' | 'SETTLED';
  readonly payout: { readonly awaitsProvider: boolean; readonly lastAnswerAtMs: number } | undefined;
}

/**
 * A RELEASED or SETTLED advance has a settled reservation of its amount and, if we submit payouts, a payout that is
 * accepted, returned or being submitted. Any other reservation belongs to a request in review or approved.
 */
export function checkAdvance(
  reservation: (Amount & { readonly isSettled: boolean }) | undefined,
  advance: AdvanceState | undefined,
  { paysOut, nowMs }: { readonly paysOut: boolean; readonly nowMs: number },
): Finding[] {
  if (advance?.status === 'RELEASED' || advance?.status === 'SETTLED') {
    return [...checkPaidReservation(reservation, advance), ...(paysOut ? checkPayout(advance, nowMs) : [])];
  }
  if (reservation === undefined) return [];
  const isOpen = advance?.status === 'PENDING_REVIEW' || advance?.status === 'APPROVED';
  if (isOpen && !reservation.isSettled) return [];
  const expected = reservation.isSettled ? 'RELEASED or SETTLED' : 'PENDING_REVIEW or APPROVED';
  return finding('RESERVATION_WITHOUT_ADVANCE', expected, advance?.status ?? 'none');
}

function checkPaidReservation(
  reservation: (Amount & { readonly isSettled: boolean }) | undefined,
  { amountMinor }: Amount,
): Finding[] {
  if (!reservation?.isSettled) {
    const found = reservation ? 'a held one' : 'none';
    return finding('ADVANCE_WITHOUT_RESERVATION', 'a settled reservation', found);
  }
  if (reservation.amountMinor === amountMinor) return [];
  return finding('ADVANCE_AMOUNT', String(amountMinor), String(reservation.amountMinor));
}

function checkPayout({ payout }: AdvanceState, nowMs: number): Finding[] {
  const expected = 'a payout that is accepted, returned or being submitted';
  if (payout === undefined) return finding('PAYOUT_MISSING', expected, 'none');
  if (!payout.awaitsProvider || nowMs - payout.lastAnswerAtMs < PAYOUT_SILENT_MS) return [];
  const lastAnswerAt = new Date(payout.lastAnswerAtMs).toISOString();
  return finding('PAYOUT_MISSING', expected, `last submitted at ${lastAnswerAt}`);
}
