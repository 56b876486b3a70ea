import { type RawBuilder, sql } from 'kysely';

/** The ids that a list is restricted to, in lower case and in order; undefined when it is not restricted. */
export function idsOf(ids: readonly string[]): readonly string[] | undefined {
  return ids.length === 0 ? undefined : [...new Set(ids.map((id) => id.toLowerCase()))].sort();
}

/** Whether a column is one of these ids. */
export const isAnyOf = (column: string, ids: RawBuilder<readonly string[]>) =>
  sql<boolean>`${sql.ref(column)} = any(${ids}::uuid[])`;
