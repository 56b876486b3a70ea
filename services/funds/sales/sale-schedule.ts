import { addDays, type CivilDate } from '../../platform/civil-date.ts';
import { businessDayFrom } from '../releases/business-days.ts';

export type SaleMethod = 'INSTANT_TRANSFER' | 'CARD';

/** A captured sale, valid by the rules of RecordSaleRequest; amounts in centavos. */
export interface CapturedSale {
  readonly method: SaleMethod;
  readonly capturedOn: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  /** The number of installments: 1 for an instant transfer. */
  readonly installments: number;
}

/** The share of a sale that falls due on a date. No two installments of a sale share a date. */
export interface ScheduledInstallment {
  /** From 1. */
  readonly number: number;
  readonly date: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
}

/** Days from capture to the first card installment, and from each to the next. */
const INSTALLMENT_DAYS = 30;

/**
 * The installments of a sale. They add up to its gross and fees exactly, and no installment's fees exceed its gross:
 * both are shared the same way, with the remaining cents going to the first installments.
 */
export function scheduleSale(sale: CapturedSale): ScheduledInstallment[] {
  const gross = shareEvenly(sale.grossMinor, sale.installments);
  const fees = shareEvenly(sale.feesMinor, sale.installments);
  return gross.map((grossMinor, index) => ({
    number: index + 1,
    date: dueDate(sale, index + 1),
    grossMinor,
    feesMinor: fees[index]!,
  }));
}

/** Largest remainder over equal shares: all remainders are equal, so the first shares get one cent more. */
function shareEvenly(amountMinor: bigint, shares: number): bigint[] {
  const base = amountMinor / BigInt(shares);
  const remainder = Number(amountMinor % BigInt(shares));
  return Array.from({ length: shares }, (_, index) => (index < remainder ? base + 1n : base));
}

function dueDate(sale: CapturedSale, number: number): CivilDate {
  switch (sale.method) {
    case 'INSTANT_TRANSFER':
      return sale.capturedOn;
    case 'CARD':
      return businessDayFrom(addDays(sale.capturedOn, INSTALLMENT_DAYS * number));
    default:
      return sale.method satisfies never;
  }
}
