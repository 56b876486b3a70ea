/** SQLSTATE of a failed statement, wherever in the chain of causes the driver's error stands. */
function sqlStateOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause ?? (at as { previous?: unknown }).previous) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Serialization failure, deadlock, and a unique key that another transaction has taken meanwhile. */
const RETRYABLE: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505']);

/** Whether trying the whole transaction again can succeed, or be refused by a rule that now sees the other's row. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlStateOf(error));
}

const AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT', 'ENOENT']);

/** Whether the database cannot be reached or is going down, as opposed to refusing a statement. */
export function isDatabaseAway(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return AWAY.has(state) || state.startsWith('57P0') || state.startsWith('08');
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
      error.message,
    )
  );
}
