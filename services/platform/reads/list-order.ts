import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { ReadParameters } from './prepared-read.ts';

type OrderColumn<Row> = keyof { [K in keyof Row as Row[K] extends string | Timestamp ? K : never]: true } &
  string;

/** The order of a list: columns that never change in a row and together are unique within a tenant. */
export interface ListOrder<Row> {
  readonly columns: readonly [OrderColumn<Row>] | readonly [OrderColumn<Row>, OrderColumn<Row>];
  readonly direction: 'asc' | 'desc';
}

/** The rows to read for a page: those after a position in the order, one more than the page size. */
export interface PageRange {
  /** The position's columns as text: both undefined for the first page, `afterTie` also for single-column orders. */
  readonly after: string | undefined;
  readonly afterTie: string | undefined;
  readonly limit: number;
}

/** The position of a row: its order columns in a form that PostgreSQL parses, without '|'. */
export function positionOf<Row>({ columns }: ListOrder<Row>, row: Row): string[] {
  return columns.map((column) => {
    const value = row[column] as string | Timestamp;
    return typeof value === 'string' ? value : timestampDate(value).toISOString();
  });
}

/** Restricts a read to a page, in the list's order. `table` names the rows' table when others are joined. */
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
