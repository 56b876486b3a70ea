/** Rows as the JSON parameter of a set-based statement; amounts become numeric text, which bigint columns read. */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
