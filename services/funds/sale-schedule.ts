import { addDays, type CivilDate } from '../platform/civil-date.ts';
import { businessDayFrom } from './business-days.ts';

export type SaleMethod = 'INSTANT_TRANSFER' | 'CARD';

/** A captured sale; amounts in centavos. */
export interface CapturedSale {
  readonly method: SaleMethod;
  readonly capturedOn: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  /** 1 for an instant transfer. */
  readonly installments: number;
}

/** What of a sale falls due on a date. No two parts of a sale share a date. */
export interface ScheduledPart {
  /** From 1. */
  readonly installment: number;
  readonly date: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
}

/** Days from capture to the first card instalment, and from each to the next. */
const INSTALLMENT_DAYS = 30;

/** Why a sale cannot be scheduled; null when it can. */
export function saleFault(sale: CapturedSale): 'FEES_EXCEED_GROSS' | 'INSTALLMENTS_NOT_ALLOWED' | null {
  if (sale.feesMinor > sale.grossMinor) return 'FEES_EXCEED_GROSS';
  if (sale.method === 'INSTANT_TRANSFER' && sale.installments !== 1) return 'INSTALLMENTS_NOT_ALLOWED';
  return null;
}

/**
 * The parts of a sale without fault. They sum to its gross and fees exactly, and no part's fees exceed its gross: both
 * are shared alike, the cents left over going to the first parts.
 */
export function scheduleSale(sale: CapturedSale): ScheduledPart[] {
  const gross = shareEvenly(sale.grossMinor, sale.installments);
  const fees = shareEvenly(sale.feesMinor, sale.installments);
  return gross.map((grossMinor, index) => ({
    installment: index + 1,
    date: dueDate(sale, index + 1),
    grossMinor,
    feesMinor: fees[index]!,
  }));
}

/** Largest remainder over equal shares: all remainders are equal, so the first shares get a cent more. */
function shareEvenly(amountMinor: bigint, shares: number): bigint[] {
  const base = amountMinor / BigInt(shares);
  const leftOver = Number(amountMinor % BigInt(shares));
  return Array.from({ length: shares }, (_, index) => (index < leftOver ? base + 1n : base));
}

function dueDate(sale: CapturedSale, installment: number): CivilDate {
  switch (sale.method) {
    case 'INSTANT_TRANSFER':
      return sale.capturedOn;
    case 'CARD':
      return businessDayFrom(addDays(sale.capturedOn, INSTALLMENT_DAYS * installment));
    default:
      return sale.method satisfies never;
  }
}
