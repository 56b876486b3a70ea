/**
 * Whether a statement keeps to one tenant: for each table that it names, an insert fills merchant_id and environment,
 * anything else compares both. A statement without a table (begin, a lock, now()) has no tenant to keep to.
 */
export function keepsToTenant(statement: string): boolean {
  const sql = statement
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll('"', '')
    .toLowerCase()
    .replaceAll(/\b(epoch|distinct) from\b/g, '');
  const tables = count(sql, /\b(from|into|update|join)\s+[a-z_]+\.[a-z_]+/g);
  return ['merchant_id', 'environment'].every(
    (column) => fills(sql, column) + compares(sql, column) >= tables,
  );
}

const count = (sql: string, pattern: RegExp) => sql.match(pattern)?.length ?? 0;

const fills = (sql: string, column: string) =>
  count(sql, new RegExp(`\\binsert into [a-z_.]+(?: as [a-z]+)? \\([^)]*\\b${column}\\b`, 'g'));

/** `x.column = …`, or as one of a row: `(x.merchant_id, x.environment, …) in …`. */
const compares = (sql: string, column: string) =>
  count(sql, new RegExp(`\\b${column}\\s*=|\\([^()]*\\b${column}\\b[^()]*\\)\\s*(=|in\\b|<|>)`, 'g'));
