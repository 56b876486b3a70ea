import type { Allocation } from './allocation.ts';
import type { PostingKind } from './funds.entity.ts';
import type { InstallmentChange } from './releases/release-rows.ts';
import {
  type AllocatedKind,
  causeOf,
  MOVEMENT_OF_POSTING,
  type Movement,
  movementOf,
} from './statement/movement.ts';

/** An amount in centavos that was deducted from an installment for a source, or restored to it. */
export interface Posting {
  readonly kind: PostingKind;
  readonly sourceId: string;
  readonly installmentId: string;
  readonly amountMinor: bigint;
}

/** What a command changes in an account. */
export interface FundsChange {
  readonly installments?: readonly InstallmentChange[];
  readonly postings?: readonly Posting[];
  readonly movements?: readonly Movement[];
  /** The sales whose blocks, refunds or lost disputes it changes, and so what their blocks should hold. */
  readonly saleIds?: readonly string[];
}

/** An amount that is deducted from installments or restored to them. */
interface Allocated {
  readonly kind: AllocatedKind;
  readonly sourceId: string;
  /** The sale whose blocks or refunds it changes. */
  readonly saleId?: string | undefined;
  /** What no installment covers, in centavos. */
  readonly debtMinor?: bigint;
}

/** Deducts an amount from installments, or restores it to them, at a time. */
export function allocationChange(
  { kind, sourceId, saleId, debtMinor }: Allocated,
  allocations: readonly Allocation[],
  at: Date,
  cause = causeOf(MOVEMENT_OF_POSTING[kind], sourceId, saleId),
): FundsChange {
  return {
    installments: allocations,
    postings: allocations.map((allocation) => postingOf(kind, sourceId, allocation)),
    movements: movementOf(cause, allocations, at, debtMinor),
    saleIds: saleId === undefined ? [] : [saleId],
  };
}

/** The posting of an allocated amount. */
export function postingOf(kind: PostingKind, sourceId: string, { after, amountMinor }: Allocation): Posting {
  return { kind, sourceId, installmentId: after.id, amountMinor };
}
