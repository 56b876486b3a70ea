import { Client } from 'pg';
import { StartError } from '../start-error.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** The PostgreSQL that DATABASE_URL names, once it has let us in. DATABASE_UNREACHABLE. */
export async function givenDatabase(url: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect();
  } catch (error) {
    // Several addresses that all refuse are one error without a message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError('DATABASE_UNREACHABLE', `DATABASE_URL cannot be used: ${message || code}`, {
      cause: error,
    });
  } finally {
    await client.end();
  }
  return url;
}
