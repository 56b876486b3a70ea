import type { PoolClient } from 'pg';
import type { PreparedRead } from '../reads/prepared-read.ts';

/** How long the transaction of a snapshot may take. */
export interface SnapshotLimits {
  readonly totalMs: number;
  /** The maximum time between two reads. */
  readonly idleMs: number;
}

type Run = (connection: PoolClient, query: PreparedRead) => Promise<unknown[]>;

/**
 * A read-only transaction whose reads all see the database at one moment. It holds a connection until it is disposed of;
 * the server ends one that exceeds its limits (see `isTransactionTimeout`).
 */
export interface Snapshot extends AsyncDisposable {
  /** Like `Database.read`. */
  read<Row>(query: PreparedRead<Row>): Promise<Row[]>;
}

export async function beginSnapshot(
  connection: PoolClient,
  { totalMs, idleMs }: SnapshotLimits,
  run: Run,
): Promise<Snapshot> {
  await using held = new AsyncDisposableStack();
  /** Why the server ended the transaction between two reads. */
  let ended: Error | undefined;
  const onError = (error: Error) => {
    ended ??= error;
  };
  connection.on('error', onError);
  held.defer(async () => {
    const broken = await connection.query('rollback').then(
      () => false,
      () => true,
    );
    connection.off('error', onError);
    connection.release(broken);
  });
  await connection.query(
    `begin isolation level repeatable read read only; set local transaction_timeout = ${totalMs};
     set local idle_in_transaction_session_timeout = ${idleMs}`,
  );
  const transaction = held.move();
  return {
    async read<Row>(query: PreparedRead<Row>) {
      if (transaction.disposed) throw new Error('the snapshot has ended');
      try {
        return (await run(connection, query)) as Row[];
      } catch (error) {
        throw ended ?? error;
      }
    },
    [Symbol.asyncDispose]: () => transaction.disposeAsync(),
  };
}
