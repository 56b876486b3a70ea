import { messageOf } from '../errors.ts';

/** The SQLSTATE of a failed statement, found anywhere in the chain of causes. */
function sqlStateOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause ?? (at as { previous?: unknown }).previous) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Serialization failure, deadlock, and unique violation (another transaction inserted the key first). */
const RETRYABLE: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505']);

/** Whether retrying the whole transaction can succeed, or fail a domain rule that now sees the other transaction's row. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlStateOf(error));
}

/** Whether a statement failed because of lock_timeout. */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/** Whether a statement computed a number that its type cannot hold. */
export const isNumberOutOfRange = (error: unknown): boolean => sqlStateOf(error) === '22003';

/** Whether a statement was canceled: by statement_timeout, or by an operator. */
export const isStatementCanceled = (error: unknown): boolean => sqlStateOf(error) === '57014';

/** Whether the server ended a transaction that took too long, or waited too long for its next statement. */
export const isTransactionTimeout = (error: unknown): boolean =>
  ['25P03', '25P04'].includes(sqlStateOf(error) ?? '');

const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** The messages of pg without a code. */
const LOST_CONNECTION =
  /Connection terminated|timeout expired|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/;
/** What Citus calls an internal error (XX000) when a node ends under a statement. */
const LOST_NODE = /failure on connection marked as essential|server closed the connection unexpectedly/;
/** Connection exceptions (08); server starting, stopping or terminating connections (57P). */
const CONNECTION_STATE = /^(08|57P)/;
/** Insufficient resources (53), a transaction that the server has ended because it froze (25P03), read-only server (25006). */
const FAILING_STATE = /^(53|25P03|25006)/;
/** Role or password refused (28), no such database (3D000): while processes run, as when the password is being replaced. */
const REFUSED_STATE = /^(28|3D000)/;
/** Transaction rollback after all retries (40), lock timeout (55P03), statement canceled by an operator or timeout (57). */
const BUSY_STATE = /^(40|55P03|57)/;

/** Whether the database is unreachable, shutting down, overloaded or out of resources, rather than rejecting a statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return isDatabaseFailing(error) || BUSY_STATE.test(sqlStateOf(error) ?? '');
}

/** Whether the database cannot serve any call at present, whatever its statements are. */
export function isDatabaseFailing(error: unknown): boolean {
  return isConnectionLost(error) || isAccessRefused(error) || FAILING_STATE.test(sqlStateOf(error) ?? '');
}

/** Whether the server refuses the role, its password or the name of the database. */
export const isAccessRefused = (error: unknown): boolean => REFUSED_STATE.test(sqlStateOf(error) ?? '');

/** Whether the connection to the database failed or ended. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === 'XX000') return LOST_NODE.test(messageOf(error));
  if (state !== undefined) return CONNECTION_ERRORS.has(state) || CONNECTION_STATE.test(state);
  return error instanceof Error && LOST_CONNECTION.test(messageOf(error));
}
