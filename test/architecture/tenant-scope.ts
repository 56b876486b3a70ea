/** Tables whose rows apply to both environments of a merchant, so they have no environment to compare. */
const OF_BOTH_ENVIRONMENTS = new Set([
  'accounts.member',
  'accounts.invitation',
  'accounts.merchant',
  'platform.membership',
]);
/** People have no merchant. Statements of a tenant reach them by id, from a row of the merchant or beside it. */
const OF_NO_MERCHANT = new Set([
  'accounts.account',
  'accounts.session',
  'accounts.unwanted_mail',
  'platform.session',
]);
/** The person who makes a call is found by their session token. */
const BY_TOKEN = /^[^;]*\bplatform\.session\b[^;]*\btoken_sha256 = /;

/** Events carry their tenant: `webhooks.publish('[…]'::json)`. */
const PUBLISH = /^[^']*\bfrom webhooks\.publish\('((?:[^']|'')*)'::json\)/;

/**
 * Whether a statement is limited to one tenant: for each of its tables, an insert fills merchant_id and environment,
 * and anything else compares both, as far as the table has them. Statements without a table (begin, a lock, now())
 * count as limited; those only about people do not.
 */
export function isScopedToTenant(statement: string): boolean {
  const published = PUBLISH.exec(statement);
  if (published) return areOfOneTenant(JSON.parse(published[1]!.replaceAll("''", "'")));
  const sql = statement
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll('"', '')
    .toLowerCase()
    .replaceAll(/\b(epoch|distinct) from\b/g, '');
  const named = sql.matchAll(/\b(?:from|into|update|join)\s+([a-z_]+\.[a-z_]+)/g);
  const tables = [...named].map(([, table]) => table!);
  const merchants = tables.filter((table) => !OF_NO_MERCHANT.has(table));
  if (tables.length > 0 && merchants.length === 0) return BY_TOKEN.test(sql);
  const environments = merchants.filter((table) => !OF_BOTH_ENVIRONMENTS.has(table));
  return (
    fills(sql, 'merchant_id') + compares(sql, 'merchant_id') >= merchants.length &&
    fills(sql, 'environment') + compares(sql, 'environment') >= environments.length &&
    (BY_TOKEN.test(sql) || compares(sql, '(?:account_)?id') >= tables.length - merchants.length)
  );
}

function areOfOneTenant(events: readonly { merchant_id?: string; environment?: string }[]): boolean {
  const tenants = events.map(({ merchant_id, environment }) => `${merchant_id} ${environment}`);
  const isComplete = events.every(({ merchant_id, environment }) => merchant_id && environment);
  return isComplete && new Set(tenants).size === 1;
}

const count = (sql: string, pattern: RegExp) => sql.match(pattern)?.length ?? 0;

const fills = (sql: string, column: string) =>
  count(sql, new RegExp(`\\binsert into [a-z_.]+(?: as [a-z]+)? \\([^)]*\\b${column}\\b`, 'g'));

/** `x.column = …`, or as one of a row: `(x.merchant_id, x.environment, …) in …`. */
const compares = (sql: string, column: string) =>
  count(sql, new RegExp(`\\b${column}\\s*=|\\([^()]*\\b${column}\\b[^()]*\\)\\s*(=|in\\b|<|>)`, 'g'));
