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
export class Snapshot implements AsyncDisposable {
  readonly #connection: PoolClient;
  readonly #run: Run;
  #isDisposed = false;
  /** Why the server ended the transaction between two reads. */
  #ended: Error | undefined;
  readonly #end = (error: Error) => {
    this.#ended ??= error;
  };

  private constructor(connection: PoolClient, run: Run) {
    this.#connection = connection;
    this.#run = run;
    connection.on('error', this.#end);
  }

  static async begin(connection: PoolClient, { totalMs, idleMs }: SnapshotLimits, run: Run) {
    const snapshot = new Snapshot(connection, run);
    try {
      await connection.query(
        `begin isolation level repeatable read read only; set local transaction_timeout = ${totalMs};
         set local idle_in_transaction_session_timeout = ${idleMs}`,
      );
      return snapshot;
    } catch (error) {
      await snapshot[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Like `Database.read`. */
  async read<Row>(query: PreparedRead<Row>): Promise<Row[]> {
    if (this.#isDisposed) throw new Error('the snapshot has ended');
    try {
      return (await this.#run(this.#connection, query)) as Row[];
    } catch (error) {
      throw this.#ended ?? error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    const broken = await this.#connection.query('rollback').then(
      () => false,
      () => true,
    );
    this.#connection.off('error', this.#end);
    this.#connection.release(broken);
  }
}
