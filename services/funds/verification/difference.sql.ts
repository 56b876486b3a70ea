import type { ReleaseStatus } from '../sales/installment.ts';

export const INVARIANTS = [
  'ORIGINAL',
  'DISTRIBUTION',
  'STATUS',
  'SALE',
  'DEBT',
  'SALES_COUNT',
  'POSTING',
  'REFUND',
  'RESERVATION',
  'RANGE',
  'HOLD',
  'MOVEMENT',
] as const;
export type InvariantName = (typeof INVARIANTS)[number];

/** A stored figure that differs from what the rest of the account implies. */
export interface DifferenceReadRow {
  invariant: InvariantName;
  figure: string;
  date: string | null;
  status: ReleaseStatus | null;
  sale_id: string | null;
  installment_id: string | null;
  source_id: string | null;
  expected: string;
  found: string;
}

/** The columns of every check, in the order in which its select lists them. */
export const DIFFERENCE_COLUMNS =
  'date, status, sale_id, installment_id, source_id, invariant, figure, expected, found';

const NO_SUBJECT = {
  date: 'null::date',
  status: 'null',
  sale: 'null::uuid',
  installment: 'null::uuid',
  source: 'null::uuid',
};

/** The columns that identify the subject of a difference: an SQL expression for each; the others are null. */
export function subject(columns: Partial<typeof NO_SUBJECT>): string {
  const { date, status, sale, installment, source } = { ...NO_SUBJECT, ...columns };
  return `${date} as date, ${status} as status, ${sale} as sale_id, ${installment} as installment_id, ${source} as source_id`;
}

/** The SQL expressions of a figure's invariant, expected value and stored value. */
type Figure = readonly [invariant: string, expected: string, found: string];

/**
 * Compares the figures of a row with their expected values, and yields one difference for each that differs; a missing
 * value counts as 0. The condition comes before the comparison of text, because hardly any row differs.
 */
export function compare(figures: Readonly<Record<string, Figure>>): string {
  const all = Object.entries(figures);
  const values = all.map(
    ([figure, [invariant, expected, found]]) =>
      `(${invariant}, '${figure}', coalesce((${expected})::text, '0'), coalesce((${found})::text, '0'))`,
  );
  const differs = all.map(([, [, expected, found]]) => `(${expected}) is distinct from (${found})`);
  return `cross join lateral (values ${values.join(', ')}) as figure (invariant, figure, expected, found)
    where (${differs.join(' or ')}) and figure.expected <> figure.found`;
}

/** A column of the stored release row `stored`, expected to equal that of the recomputed row `computed`. */
export const recomputed = (invariant: InvariantName, column: string): Figure => [
  `'${invariant}'`,
  `computed.${column}`,
  `stored.${column}`,
];
