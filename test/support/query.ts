import { Client } from 'pg';

/**
 * Runs statements on their own connection, one after the other; it may break meanwhile.
 * @returns the rows of the last.
 */
// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
export async function query(url: string, ...statements: string[]): Promise<any[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
