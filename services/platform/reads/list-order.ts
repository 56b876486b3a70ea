import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
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

/** The rows that a step of a search may read: those of a page, up to and including a position if there is one. */
export interface SearchRange extends PageRange {
  readonly until: string | undefined;
  readonly untilTie: string | undefined;
}

/** The position of a row: its order columns in a form that PostgreSQL parses, without '|'. */
export function positionOf<Row>({ columns }: ListOrder<Row>, row: Partial<Row>): string[] {
  return columns.map((column) => {
    const value = row[column] as string | Timestamp;
    return typeof value === 'string' ? value : timestampDate(value).toISOString();
  });
}

/** Restricts a read to a page, in the list's order. `table` names the rows' table when others are joined. */
export function inOrder<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: ListOrder<NoInfer<Row>>,
  parameters: ReadParameters<PageRange>,
  table?: string,
): SelectQueryBuilder<DB, TB, Row> {
  const columns = order.columns.map((column) => sql.ref(table ? `${table}.${column}` : column));
  let page = query.limit(parameters('limit'));
  if (parameters.has('after')) {
    const position = [parameters('after'), parameters('afterTie')];
    page = page.where(compared(columns, order.direction === 'asc' ? '>' : '<', position));
  }
  for (const column of columns) page = page.orderBy(column, order.direction);
  return page;
}

/**
 * Compares a column with a value in a read that is also ordered by the column, before the list's order: so only an index that has
 * the column in front fits. Otherwise the planner may choose one across merchants, and read the rows of all of them, where most
 * are of one. With `=` it would drop the column from the order.
 */
export const inFront = (column: string, type: 'text' | 'uuid', value: RawBuilder<unknown>) =>
  sql<boolean>`${sql.ref(column)} = any (array[${value}]::${sql.raw(type)}[])`;

/**
 * Restricts a read to the rows that a step of a search may read, in the list's order. The limit keeps PostgreSQL from moving
 * filters of an outer query into this one, where it could choose another index for them. The planner does not know its value, so it
 * expects that few rows are needed, and reads an index in the list's order. Otherwise it may read the rows of all merchants up to
 * `until` off the primary key, and sort them.
 */
export function inSearch<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: ListOrder<NoInfer<Row>>,
  parameters: ReadParameters<SearchRange>,
): SelectQueryBuilder<DB, TB, Row> {
  const read = inOrder(query, order, parameters).clearLimit().limit(sql<number>`(select 2147483647)`);
  if (!parameters.has('until')) return read;
  const columns = order.columns.map((column) => sql.ref(column));
  const position = [parameters('until'), parameters('untilTie')];
  return read.where(compared(columns, order.direction === 'asc' ? '<=' : '>=', position));
}

/** Compares the order columns with as many values of a position. */
function compared(
  columns: readonly RawBuilder<unknown>[],
  operator: '<' | '<=' | '>' | '>=',
  position: readonly RawBuilder<unknown>[],
): RawBuilder<boolean> {
  const [row, values] = [sql.join(columns), sql.join(position.slice(0, columns.length))];
  return sql`(${row}) ${sql.raw(operator)} (${values})`;
}
