import type { TestHarness } from './harness.ts';
import { sqlOf } from './sql.ts';

/**
 * Copies the rows of a table in which a column has a value, each copy with its own id.
 * @param copies of each row.
 * @param changes to the columns of the copies, as JSON values.
 */
export async function copyRows(
  harness: Pick<TestHarness, 'databaseUrl'>,
  table: string,
  [column, value]: readonly [column: string, value: string],
  copies: number,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await sqlOf(
    harness,
    // Materialized; otherwise each column would create the copy again.
    `with copies as materialized (
       select jsonb_populate_record(original, jsonb_build_object('id', gen_random_uuid()) || $1::jsonb) as copy
         from ${table} original, generate_series(1, $2) where original.${column} = $3)
     insert into ${table} select (copy).* from copies`,
    [changes, copies, value],
  );
}
