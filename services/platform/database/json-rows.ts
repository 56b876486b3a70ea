import { columnName } from './column-names.ts';

/**
 * Rows as the JSON parameter of a set-based statement: their properties as columns (`merchantId` as `merchant_id`), and
 * bigints as text, which bigint columns read.
 */
export const jsonRows = (rows: readonly object[]): string => JSON.stringify(rows.map(jsonRow));

function jsonRow(row: object): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  // Faster than Object.entries, for the rows of every delivery.
  for (const property in row) {
    const value: unknown = row[property as keyof typeof row];
    columns[columnName(property)] = typeof value === 'bigint' ? String(value) : value;
  }
  return columns;
}
