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

/** Whether a statement gave up because it waited for a lock as long as it may. */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03';

const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'ENOENT'],
  ...['EHOSTUNREACH', 'ENETUNREACH'],
]);
/** Connections fail (08); the server starts, stops or ends connections (57P). */
const AWAY_STATE = /^(08|57P)/;
/**
 * Others win every time a transaction is tried (40), resources are used up (53), a lock does not come in time (55P03),
 * a transaction lay idle (25P03), the server only reads since another took over (25006), a statement was canceled by an
 * operator or a time limit (57).
 */
const BUSY_STATE = /^(40|53|55P03|25P03|25006|57)/;

/** Whether the database cannot be reached, is going down, has no room or is too busy, as opposed to refusing. */
export function isDatabaseAway(error: unknown): boolean {
  return isConnectionLost(error) || BUSY_STATE.test(sqlStateOf(error) ?? '');
}

/** Whether there is no connection to the database, or it has ended. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return AWAY.has(state) || AWAY_STATE.test(state);
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
      error.message,
    )
  );
}
