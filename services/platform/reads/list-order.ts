import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { ReadParameters } from './prepared-read.ts';

type OrderColumn<Row> = keyof { [K in keyof Row as Row[K] extends string | Timestamp ? K : never]: true } &
  string;

/** What a list is ordered by: columns that never change in a row and are together unique within a tenant. */
export interface ListOrder<Row> {
  readonly columns: readonly [OrderColumn<Row>] | readonly [OrderColumn<Row>, OrderColumn<Row>];
  readonly direction: 'asc' | 'desc';
}

/** The rows that a page reads: those after a position in the order, one more than the page holds. */
export interface PageRange {
  /** The position's columns as text; undefined for the first page, the second also for an order of one column. */
  readonly after: string | undefined;
  readonly afterTie: string | undefined;
  readonly limit: number;
}

/** Narrows a read to a page's range, in the list's order. `table` names the rows' table when others are joined. */
export function inOrder<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { columns, direction }: ListOrder<NoInfer<Row>>,
  parameters: ReadParameters<PageRange>,
  table?: string,
): SelectQueryBuilder<DB, TB, Row> {
  const references = columns.map((column) => sql.ref(table ? `${table}.${column}` : column));
  let page = query.limit(parameters('limit'));
  if (parameters.has('after')) {
    const position = (['after', 'afterTie'] as const)
      .slice(0, columns.length)
      .map((name) => parameters(name));
    const [row, start] = [sql.join(references), sql.join(position)];
    page = page.where(
      direction === 'asc' ? sql<boolean>`(${row}) > (${start})` : sql<boolean>`(${row}) < (${start})`,
    );
  }
  for (const reference of references) page = page.orderBy(reference, direction);
  return page;
}
