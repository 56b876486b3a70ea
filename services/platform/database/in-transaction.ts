import type { ClientBase } from 'pg';

/** A connection, which is released to its pool if it has one. */
type Connection = ClientBase & { release?(broken: boolean): void };

/** Runs work in a transaction of a connection, which it releases. */
export async function inTransaction<T>(
  connection: Connection,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  let broken = false;
  try {
    await connection.query(begin);
    const result = await work();
    await connection.query('commit');
    return result;
  } catch (error) {
    // Without a connection there is nothing to roll back.
    await connection.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    connection.release?.(broken);
  }
}
