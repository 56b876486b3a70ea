import type { CivilDate } from '../../platform/civil-date.ts';
import { failedPrecondition } from '../../platform/errors.ts';
import type { Allocation } from '../allocation.ts';
import { type Installment, isFree, reserve, settle } from '../sales/installment.ts';

/** An installment as an advance quoted it. */
export interface QuotedInstallment {
  readonly installmentId: string;
  readonly version: bigint;
}

/** A reserved installment before and after. */
export interface Reserved {
  readonly before: Installment;
  readonly after: Installment;
}

/**
 * Reserves all quoted installments. FAILED_PRECONDITION (QUOTE_STALE) when one of them has changed since the quote, is
 * not free, or is dated today or earlier.
 */
export function reserveQuoted(
  quoted: readonly QuotedInstallment[],
  installments: readonly Installment[],
  advanceRequestId: string,
  today: CivilDate,
): Reserved[] {
  const byId = new Map(installments.map((installment) => [installment.id, installment]));
  return quoted.map(({ installmentId, version }) => {
    const before = byId.get(installmentId);
    if (before === undefined || before.version !== version || !isFree(before) || before.date <= today) {
      throw failedPrecondition('QUOTE_STALE', 'a covered installment has changed since the quote', {
        installmentId,
      });
    }
    byId.delete(installmentId);
    return { before, after: reserve(before, advanceRequestId) };
  });
}

/**
 * Pays out reserved installments. FAILED_PRECONDITION (COVERED_PART_DUE) once the date of one has come: the daily
 * release would pay it a second time.
 */
export function settleReserved(installments: readonly Installment[], today: CivilDate): Allocation[] {
  const due = installments.find(({ date }) => date <= today);
  if (due !== undefined) {
    const message = 'a covered installment is due';
    throw failedPrecondition('COVERED_PART_DUE', message, { date: due.date });
  }
  return installments.map((before) => ({
    before,
    after: settle(before),
    amountMinor: before.reservation?.amountMinor ?? 0n,
  }));
}
