import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { isRetryable } from './database-errors.ts';
import { reclaimDeadClients } from './dead-clients.ts';
import { readTypes } from './read-types.ts';

/** What `defineEntity` answers, whatever its type. */
export type EntityDefinition = NonNullable<Options['entities']>[number];

/** What the database is opened with. */
export interface DatabaseOptions {
  readonly url: string;
  /** Most connections for transactions, and as many for reads. */
  readonly poolSize: number;
  /** Off behind a pooler that does not keep prepared statements (PgBouncer before 1.21). */
  readonly preparedStatements: boolean;
  readonly entities: readonly EntityDefinition[];
  /** A server that sends nothing for that long is given up for lost. Default: 75 s. */
  readonly maxSilenceMs?: number;
  /** Sees each statement's SQL; tests check with it that every statement names its tenant. */
  readonly onStatement?: (sql: string) => void;
}

type OpenOptions = DatabaseOptions & { readonly maxSilenceMs: number };

/** Longer than anybody waits for one statement: the verification of an account, a minute. */
const MAX_SILENCE_MS = 75_000;
const MAX_TRANSACTION_TRIES = 5;
/** Less than what ends processes gives them. */
const CLOSE_MS = 8_000;

/**
 * Settings of every connection. A write whose caller is gone or whose lock does not come gives its connection back, so
 * a few stuck ones never use up the pool; locks are awaited longer than callers of the public API wait for an answer.
 * No transaction waits for anything but the database: one that idles is of a process that stands still, whose locks
 * hold up others, dispatch for all merchants among them.
 */
const SESSION_SETTINGS = [
  'timezone=UTC',
  'lock_timeout=15s',
  'client_connection_check_interval=1s',
  'idle_in_transaction_session_timeout=10s',
];

/**
 * Of connections for reads and dispatch, whose statements are prepared: planned once, for any values, by their indexes.
 * A plan chosen while a table was empty or had no statistics must still be right when it is full.
 */
const PREPARED_SETTINGS = ['plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'jit=off'];

/**
 * One PostgreSQL database: entities for writes, prepared statements for hot reads. Each has a pool of its own, so
 * writes that wait for one merchant's locks keep nobody from reading.
 */
export class Database {
  readonly #orm: MikroORM;
  readonly #reads: Pool;
  readonly #options: OpenOptions;
  readonly #statementNames = new Map<string, string>();

  private constructor(orm: MikroORM, reads: Pool, options: OpenOptions) {
    this.#orm = orm;
    this.#reads = reads;
    this.#options = options;
  }

  /** Who holds a connection and waits for what the server has to tell sends a statement more often than that. */
  get maxSilenceMs(): number {
    return this.#options.maxSilenceMs;
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const { maxSilenceMs = MAX_SILENCE_MS } = options;
    const connection = { connectionTimeoutMillis: 5_000, stream: () => createSocket(maxSilenceMs) };
    const orm = await MikroORM.init({
      clientUrl: options.url,
      entities: [...options.entities],
      pool: { min: 0, max: options.poolSize },
      driverOptions: {
        ...connection,
        options: serverOptions(SESSION_SETTINGS),
        onPoolCreated: reclaimDeadClients,
      },
      forceUtcTimezone: true,
      discovery: { warnWhenNoEntities: false },
      debug: options.onStatement ? ['query', 'query-params'] : false,
      ...(options.onStatement && { logger: options.onStatement, colors: false }),
    });
    const reads = new Pool({
      ...connection,
      connectionString: options.url,
      max: options.poolSize,
      options: serverOptions([...SESSION_SETTINGS, ...(options.preparedStatements ? PREPARED_SETTINGS : [])]),
    });
    // A connection that dies leaves the pool, and the next read opens another. An error nobody listens to ends the
    // process: the pool tells of a connection that is idle, one that somebody holds tells of itself.
    reads.on('error', () => undefined);
    reads.on('connect', (client) => client.on('error', () => undefined));
    return new Database(orm, reads, { ...options, maxSilenceMs });
  }

  /**
   * Runs a hot read as a named prepared statement; rows come with int8 as bigint and timestamptz as protobuf
   * Timestamps, ready to stand in a message.
   */
  async read<Row>(query: CompiledQuery<Row>): Promise<Row[]> {
    this.#options.onStatement?.(query.sql);
    const name = this.#options.preparedStatements ? this.#statementName(query.sql) : undefined;
    const statement = { name, text: query.sql, values: query.parameters as unknown[], types: readTypes };
    const result = await this.#reads.query(statement);
    return result.rows as Row[];
  }

  /**
   * Runs work in one transaction on an entity manager of its own; it commits when the work returns, and starts again
   * as {@link retryTransaction} says.
   */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    return retryTransaction(() => this.#orm.em.fork().transactional(work, { clear: true }));
  }

  /** A connection for LISTEN and NOTIFY, and for statements of its holder's own; release it when done. */
  connect(): Promise<PoolClient> {
    return this.#reads.connect();
  }

  /** Resolves when the database answers, rejects when it does not. */
  async ping(): Promise<void> {
    await this.#reads.query('select 1');
  }

  /** Resolves when all connections have ended. A pool waits for ever for one that is not given back: not this does. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#orm.close(), this.#reads.end()]);
    await Promise.race([ended, delay(CLOSE_MS, undefined, { ref: false })]);
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
 * Runs a transaction, and again after a deadlock, a serialization failure or a unique key taken meanwhile, a bounded
 * number of times.
 */
export async function retryTransaction<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isRetryable(error) || tries === MAX_TRANSACTION_TRIES) throw error;
      await delay(Math.random() * 10 * 2 ** tries);
    }
  }
}

/**
 * TCP by itself waits a quarter of an hour for a server that is gone without a word, as behind a network that swallows
 * or after a failover: all connections of a pool would stand still for as long. Keep-alive does not look while a
 * statement is on its way.
 */
function createSocket(maxSilenceMs: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(maxSilenceMs, () => {
    const message = `PostgreSQL has sent nothing for ${maxSilenceMs} ms`;
    socket.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  });
}

const serverOptions = (settings: readonly string[]) => settings.map((setting) => `-c ${setting}`).join(' ');

/** A Kysely that only compiles: hot reads are built with it and run by {@link Database.read}. */
export function queryBuilder<Tables>(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}
