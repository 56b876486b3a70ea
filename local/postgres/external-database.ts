import { Client } from 'pg';
import { StartError } from '../start-error.ts';

const CONNECT_TIMEOUT_MS = 10_000;

const IN_RECOVERY =
  'the PostgreSQL in DATABASE_URL is in recovery: use the primary instead of a standby, or end the ' +
  'restore ("select pg_wal_replay_resume()" if it is paused at its target)';

/**
 * Connects once to the PostgreSQL in DATABASE_URL. Throws StartError DATABASE_UNREACHABLE, without the password, if that fails
 * or the server is in recovery.
 */
export async function assertDatabaseReachable(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  let isRecovering: boolean;
  try {
    await client.connect();
    isRecovering = (await client.query('select pg_is_in_recovery() as recovering')).rows[0].recovering;
  } catch (error) {
    // When every address of a host refuses, the error has a code and no message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError('DATABASE_UNREACHABLE', `cannot connect to DATABASE_URL: ${message || code}`, {
      cause: error,
    });
  } finally {
    await client.end();
  }
  if (isRecovering) throw new StartError('DATABASE_UNREACHABLE', IN_RECOVERY);
}
