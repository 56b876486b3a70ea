import { sql } from 'kysely';
import type { FundsTotals } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { within64Bits } from '../platform/within-64-bits.ts';

/** The sums of a list's rows, in centavos, as text: they may exceed 64 bits. */
export interface FundsTotalsRow {
  count: number;
  gross_minor: string;
  fees_minor: string;
  deducted_minor: string;
  advanced_minor: string;
  blocked_minor: string;
  released_minor: string;
  scheduled_minor: string;
}

const sumOf = (amount: string) => sql<string>`coalesce(sum(${sql.raw(amount)}), 0)::text`;
const remaining = (status: string) =>
  sql<string>`coalesce(sum(remaining_minor) filter (where status = ${sql.lit(status)}), 0)::text`;

const COMMON = [
  sql<number>`count(*)::int`.as('count'),
  sumOf('gross_minor').as('gross_minor'),
  sumOf('fees_minor').as('fees_minor'),
  sumOf('deducted_minor').as('deducted_minor'),
  sumOf('advanced_minor').as('advanced_minor'),
] as const;

export const RELEASE_TOTALS = [
  ...COMMON,
  remaining('BLOCKED').as('blocked_minor'),
  remaining('RELEASED').as('released_minor'),
  remaining('SCHEDULED').as('scheduled_minor'),
] as const;

export const SALE_TOTALS = [
  ...COMMON,
  sumOf('blocked_minor').as('blocked_minor'),
  sumOf('released_minor').as('released_minor'),
  sumOf('scheduled_minor').as('scheduled_minor'),
] as const;

/** The message of totals. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE). */
export function fundsTotalsMessage([row]: readonly FundsTotalsRow[]): FundsTotals {
  if (!row) throw new Error('the totals of a list were not returned');
  const sum = (text: string) => within64Bits(BigInt(text));
  return {
    $typeName: 'payments.funds.v1.FundsTotals',
    count: BigInt(row.count),
    grossAmountMinor: sum(row.gross_minor),
    feesAmountMinor: sum(row.fees_minor),
    originalAmountMinor: within64Bits(BigInt(row.gross_minor) - BigInt(row.fees_minor)),
    deductionsAmountMinor: sum(row.deducted_minor),
    advancedAmountMinor: sum(row.advanced_minor),
    blockedAmountMinor: sum(row.blocked_minor),
    releasedAmountMinor: sum(row.released_minor),
    scheduledAmountMinor: sum(row.scheduled_minor),
  };
}
