import type { Duplex } from 'node:stream';
import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { PreparedQuery } from './prepared-query.ts';

/** A read, ready to be sent. */
export interface ReadStatement extends QueryConfig {
  /** The most rows that it returns; undefined if that is not known. */
  readonly maxRows: number | undefined;
}

/** A page of 25, and the row that shows that there is another page. Results of 50 rows are served more slowly if shared. */
const MAX_SHARED_ROWS = 26;
const MAX_SHARED_CONNECTIONS = 2;
/** More would wait for one connection while others of the pool are idle. */
const MAX_UNANSWERED = 16;
/** A statement that takes this long delays only those that were sent with it. */
const SLOW_MS = 50;

/**
 * Runs reads on the connections of a pool. Half of the time of a short read goes into system calls, so concurrent short
 * reads are sent together on shared connections, which PostgreSQL answers in order. All others have a connection to
 * themselves.
 */
export class ReadPool {
  readonly #pool: Pool;
  readonly #shared = new Set<SharedConnection>();
  readonly #maxShared: number;

  /** @param pool its clients must have the option `pipeline`. At least three quarters of it are left to its other users. */
  constructor(pool: Pool) {
    this.#pool = pool;
    this.#maxShared = Math.min(MAX_SHARED_CONNECTIONS, Math.floor(pool.options.max / 4));
  }

  async read<Row>(statement: ReadStatement): Promise<Row[]> {
    const shared = isShort(statement) ? this.#sharedConnection() : undefined;
    const result = shared
      ? shared.run(new PreparedQuery(statement)).catch((error: unknown) => {
          if (isUnprepared(error)) return this.#readAlone(statement);
          throw error;
        })
      : this.#readAlone(statement);
    return (await result).rows as Row[];
  }

  #readAlone(statement: ReadStatement): Promise<QueryResult> {
    // The pool returns a promise, although its types promise the query itself.
    return this.#pool.query(new PreparedQuery(statement)) as unknown as Promise<QueryResult>;
  }

  /** The least busy one; undefined if all are full or wait for a slow statement. */
  #sharedConnection(): SharedConnection | undefined {
    if (this.#shared.size < this.#maxShared) {
      const opened = new SharedConnection(this.#pool, () => this.#shared.delete(opened));
      this.#shared.add(opened);
      return opened;
    }
    let leastBusy: SharedConnection | undefined;
    for (const each of this.#shared) {
      if (each.isUsable && (!leastBusy || each.unanswered < leastBusy.unanswered)) leastBusy = each;
    }
    return leastBusy;
  }
}

/** A statement that was to be prepared by an earlier one, which has failed. */
const isUnprepared = (error: unknown) => error instanceof DatabaseError && error.code === '26000';

/** Unnamed statements may go through a pooler, which is to see one at a time. */
const isShort = ({ name, maxRows }: ReadStatement) =>
  name !== undefined && maxRows !== undefined && maxRows <= MAX_SHARED_ROWS;

/** A connection of a pool from its first statement until all are answered. */
class SharedConnection {
  readonly #client: Promise<PoolClient>;
  readonly #onReleased: () => void;
  #unanswered = 0;
  #lastAnswerAt = performance.now();
  #isCorked = false;
  #hasFailed = false;

  constructor(pool: Pool, onReleased: () => void) {
    this.#client = pool.connect();
    this.#onReleased = onReleased;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  /** Whether it may be sent more: it answers, and few statements wait for it. */
  get isUsable(): boolean {
    return this.#unanswered < MAX_UNANSWERED && performance.now() - this.#lastAnswerAt <= SLOW_MS;
  }

  async run(query: PreparedQuery): Promise<QueryResult> {
    this.#unanswered += 1;
    try {
      return await this.#send(await this.#client, query);
    } catch (error) {
      // pg would use a prepared statement that has become invalid again and again.
      this.#hasFailed = true;
      this.#onReleased();
      throw error;
    } finally {
      this.#lastAnswerAt = performance.now();
      this.#unanswered -= 1;
      if (this.#unanswered === 0) this.#release();
    }
  }

  #send(client: PoolClient, query: PreparedQuery): Promise<QueryResult> {
    this.#cork(client.connection.stream);
    return new Promise((resolve, reject) => {
      query.callback = (error, result) => (error ? reject(error) : resolve(result));
      client.query(query);
    });
  }

  /** What is sent in one turn of the event loop is sent with one system call. */
  #cork(stream: Duplex): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  /** The pool closes a connection on which a statement has failed. */
  #release(): void {
    this.#onReleased();
    this.#client.then(
      (client) => client.release(this.#hasFailed),
      () => undefined,
    );
  }
}
