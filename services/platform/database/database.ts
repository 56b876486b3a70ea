import { setTimeout as delay } from 'node:timers/promises';
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import { Pool, type PoolClient } from 'pg';
import { closeWithin } from '../process/close-within.ts';
import type { PreparedRead } from '../reads/prepared-read.ts';
import {
  createSocket,
  readOptions,
  replicaOptions,
  withOptions,
  writeOptions,
} from './connection-settings.ts';
import { isRetryable } from './database-errors.ts';
import { reclaimDeadClients } from './dead-clients.ts';
import { inTransaction } from './in-transaction.ts';
import { watchPool } from './pool-metrics.ts';
import { ReadPool, type ReadStatement } from './read-pool.ts';
import { ReadReplicas, type ReplicaOptions } from './read-replicas.ts';
import { readTypes } from './read-types.ts';
import { requirePrimary } from './require-primary.ts';
import { beginSnapshot, type Snapshot, type SnapshotLimits } from './snapshot.ts';
import { traceSql } from './trace-sql.ts';

/** The result of `defineEntity`, of any type. */
export type EntityDefinition = NonNullable<Options['entities']>[number];

export interface DatabaseOptions {
  readonly url: string;
  /** Maximum number of connections for transactions, and the same number for reads. */
  readonly poolSize: number;
  /** False behind a pooler without support for prepared statements (PgBouncer before 1.21). */
  readonly preparedStatements: boolean;
  readonly entities: readonly EntityDefinition[];
  /** Replicas that lists are read from. Default: the primary alone. */
  readonly replicas?: ReplicaOptions | undefined;
  /** A connection on which the server sends nothing for this long is closed. Default: 75 s. */
  readonly maxSilenceMs?: number;
  /** Receives the SQL of each statement; tests use it to check that every statement names its tenant. */
  readonly onStatement?: (sql: string) => void;
}

/** Whether a database that answers also accepts writes: some hosts make it read-only when the disk is nearly full. */
export type DatabaseState = 'up' | 'read-only';

type OpenOptions = DatabaseOptions & { readonly maxSilenceMs: number };

/** Longer than the slowest statement. */
const MAX_SILENCE_MS = 75_000;
const PING_MS = 2_000;
const MAX_TRANSACTION_ATTEMPTS = 5;
/** Statements of calls that were cut off may still be running. */
const CLOSE_MS = 1_500;

/**
 * One PostgreSQL database: entities for writes, prepared statements for hot reads. Each has a separate pool, so writes
 * that wait for one merchant's locks never block reads.
 */
export class Database {
  readonly #orm: MikroORM;
  readonly #reads: Pool;
  readonly #readPool: ReadPool;
  readonly #replicas: ReadReplicas | undefined;
  readonly #options: OpenOptions;
  readonly #statementNames = new Map<string, string>();
  #pinging: Promise<DatabaseState> | undefined;

  private constructor(orm: MikroORM, reads: Pool, replicas: ReadReplicas | undefined, options: OpenOptions) {
    this.#orm = orm;
    this.#reads = reads;
    this.#readPool = new ReadPool(reads);
    this.#replicas = replicas;
    this.#options = options;
  }

  /** A holder of an idle connection, such as one that LISTENs, must send a statement more often than this. */
  get maxSilenceMs(): number {
    return this.#options.maxSilenceMs;
  }

  get poolSize(): number {
    return this.#options.poolSize;
  }

  get preparedStatements(): boolean {
    return this.#options.preparedStatements;
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const { maxSilenceMs = MAX_SILENCE_MS } = options;
    const stream = () => createSocket(maxSilenceMs);
    const connection = { connectionTimeoutMillis: 5_000, stream, verify: requirePrimary };
    const orm = await MikroORM.init({
      clientUrl: options.url,
      entities: [...options.entities],
      pool: { min: 0, max: options.poolSize },
      driverOptions: {
        ...connection,
        // The ORM takes host, user and database from its URL, and ignores the parameters, such as sslmode.
        connectionString: withOptions(options.url, writeOptions),
        onPoolCreated: (pool: Pool) => {
          reclaimDeadClients(pool);
          watchPool(pool, 'writes');
        },
      },
      forceUtcTimezone: true,
      discovery: { warnWhenNoEntities: false },
      debug: options.onStatement ? ['query', 'query-params'] : false,
      ...(options.onStatement && { logger: options.onStatement, colors: false }),
    });
    const reads = new Pool({
      ...connection,
      max: options.poolSize,
      connectionString: withOptions(options.url, readOptions(options.preparedStatements)),
      pipeline: true,
    });
    // A dead connection leaves the pool, and the next read opens another. Unhandled 'error' events would end the process:
    // the pool emits those of idle connections, each client in use its own.
    reads.on('error', () => undefined);
    reads.on('connect', (client) => client.on('error', () => undefined));
    watchPool(reads, 'reads');
    const replicas = options.replicas?.urls.length
      ? new ReadReplicas(options.replicas, reads, {
          ...replicaOptions(options.preparedStatements),
          max: options.poolSize,
          stream,
        })
      : undefined;
    return new Database(orm, reads, replicas, { ...options, maxSilenceMs });
  }

  /**
   * Runs a hot read as a named prepared statement; rows have int8 as bigint and timestamptz as protobuf Timestamps, ready
   * for use in messages.
   */
  read<Row>(query: PreparedRead<Row>): Promise<Row[]> {
    return traceSql('read', query.sql, () => this.#readPool.read<Row>(this.#statementOf(query)));
  }

  /** Like `read`, of one row at most, such as the one with an id. */
  async readOne<Row>(query: PreparedRead<Row>): Promise<Row | undefined> {
    const [row] = await this.read<Row>({ ...query, maxRows: 1 });
    return row;
  }

  /**
   * Like `read`, for lists: from a replica if one is configured and shows everything that the primary had committed
   * at the time of the call. If the replica fails, the primary answers.
   */
  readList<Row>(query: PreparedRead<Row>): Promise<Row[]> {
    const replicas = this.#replicas;
    if (!replicas) return this.read(query);
    return traceSql('read', query.sql, async () => {
      const statement = this.#statementOf(query);
      return (await replicas.read<Row>(statement)) ?? this.#readPool.read<Row>(statement);
    });
  }

  /**
   * Like `read`, in a read-only transaction of its own with one snapshot. The server cancels the statement after
   * `timeoutMs`, including waits for locks (see `isStatementCanceled`).
   */
  readSnapshot<Row>(query: PreparedRead<Row>, { timeoutMs }: { readonly timeoutMs: number }): Promise<Row[]> {
    const begin = `begin isolation level repeatable read read only; set local statement_timeout = ${timeoutMs}`;
    return traceSql('read', query.sql, async () => {
      const connection = await this.#reads.connect();
      const result = await inTransaction(connection, begin, () => connection.query(this.#statementOf(query)));
      return result.rows as Row[];
    });
  }

  /** Begins a snapshot for several reads; dispose of it when done. */
  async snapshot(limits: SnapshotLimits): Promise<Snapshot> {
    return beginSnapshot(await this.#reads.connect(), limits, async (connection, query) => {
      const result = await connection.query(this.#statementOf(query));
      return result.rows as unknown[];
    });
  }

  /**
   * Runs work in one transaction with its own entity manager; commits when the work returns, and retries as described at
   * {@link retryTransaction}.
   */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    return traceSql('transaction', undefined, () =>
      retryTransaction(() => this.#orm.em.fork().transactional(work, { clear: true })),
    );
  }

  /** A connection for LISTEN, NOTIFY and individual statements; release it when done. */
  connect(): Promise<PoolClient> {
    return this.#reads.connect();
  }

  /**
   * Resolves when the database answers, rejects when it does not within two seconds. Probes share one statement, so those
   * of a silent server take one connection.
   */
  async ping(): Promise<DatabaseState> {
    this.#pinging ??= this.#readState().finally(() => {
      this.#pinging = undefined;
    });
    const state = await Promise.race([this.#pinging, delay(PING_MS, undefined, { ref: false })]);
    if (state === undefined) throw new Error(`PostgreSQL has not answered for ${PING_MS} ms`);
    return state;
  }

  async #readState(): Promise<DatabaseState> {
    const { rows } = await this.#reads.query<{ value: string }>(
      `select current_setting('transaction_read_only') as value`,
    );
    return rows[0]!.value === 'on' ? 'read-only' : 'up';
  }

  /** Resolves when all connections have closed, or after a timeout: a pool waits forever for connections never released. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#orm.close(), this.#reads.end(), this.#replicas?.close()]);
    await closeWithin(CLOSE_MS, ended);
  }

  #statementOf({ sql, parameters, maxRows }: PreparedRead): ReadStatement {
    this.#options.onStatement?.(sql);
    const name = this.preparedStatements ? this.#statementName(sql) : undefined;
    return { name, text: sql, values: parameters as unknown[], types: readTypes, maxRows };
  }

  #statementName(sql: string): string {
    let name = this.#statementNames.get(sql);
    if (name === undefined) {
      name = `read_${this.#statementNames.size + 1}`;
      this.#statementNames.set(sql, name);
    }
    return name;
  }
}

/**
 * Runs a transaction, retrying it a limited number of times after a deadlock, a serialization failure or a unique
 * violation.
 */
export async function retryTransaction<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isRetryable(error) || attempt === MAX_TRANSACTION_ATTEMPTS) throw error;
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}
