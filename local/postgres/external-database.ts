import { Client } from 'pg';
import { StartError } from '../start-error.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Connects once to the PostgreSQL in DATABASE_URL. Throws StartError DATABASE_UNREACHABLE, without the password. */
export async function assertDatabaseReachable(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect();
  } catch (error) {
    // When every address of a host refuses, the error has a code and no message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError('DATABASE_UNREACHABLE', `cannot connect to DATABASE_URL: ${message || code}`, {
      cause: error,
    });
  } finally {
    await client.end();
  }
}
