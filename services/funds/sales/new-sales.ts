import { DomainError } from '../../platform/errors.ts';
import {
  applyToReleases,
  type ReleaseRow,
  requireExactSums,
  rowKey,
  withChanged,
} from '../releases/release-rows.ts';
import type { Installment } from './installment.ts';
import type { SaleMethod } from './sale-schedule.ts';

/** A sale to record, with the installments that the rules schedule. */
export interface NewSale {
  readonly id: string;
  readonly method: SaleMethod;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly capturedAt: Date;
  readonly orderId: string | null;
  readonly orderNumber: string | null;
  readonly productId: string | null;
  readonly customerReference: string | null;
  readonly requestId: string;
  readonly installments: readonly Installment[];
}

/** A sale that fits, and its released rows as they are once it is added. */
export interface AddedSale {
  readonly sale: NewSale;
  readonly released: readonly ReleaseRow[];
}

/**
 * Adds sales one after the other to the release rows of their dates. Leaves out a sale that would take a day above the
 * exact range. Returns the added sales and the rows that changed.
 */
export function addSales(rows: Iterable<ReleaseRow>, sales: readonly NewSale[]) {
  let current: readonly ReleaseRow[] = [...rows];
  const changed = new Set<string>();
  const added: AddedSale[] = [];
  for (const sale of sales) {
    const changes = sale.installments.map((after) => ({ before: null, after }));
    const rowsAfter = applyToReleases(current, changes);
    const next = withChanged(current, rowsAfter);
    if (!areExact(next)) continue;
    current = next;
    for (const row of rowsAfter) changed.add(rowKey(row));
    const released = rowsAfter
      .filter(({ status }) => status === 'RELEASED')
      .toSorted((a, b) => (a.date < b.date ? -1 : 1));
    added.push({ sale, released });
  }
  return { added, rows: current.filter((row) => changed.has(rowKey(row))) };
}

function areExact(rows: readonly ReleaseRow[]): boolean {
  try {
    requireExactSums(rows);
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
