import { Pool, type QueryResult } from 'pg';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { migrate } from '../../services/platform/database/migrate.ts';
import { bindNamed } from '../../services/platform/database/named-sql.ts';
import { metrics } from '../../services/platform/process/telemetry.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';

const SCHEMA = 'rate_limit';
const TABLE = 'request_count';
const MIGRATION = '0009_rate_limits.sql';

/** Connections of each host: live, sandbox and dashboard. */
export const POOL_SIZE = 5;
/** The longest that a request waits for its count. */
const TIMEOUT_MS = 500;
/** While the database is unavailable, one request per interval checks whether it is back. */
const RETRY_MS = 1_000;
/** How long expired rows are kept: tolerates this much clock skew between gateways. */
const RETENTION_MS = 10_000;
const DELETE_INTERVAL_MS = 10_000;
const DELETE_BATCH = 10_000;

const UNAVAILABLE = new Error('the rate-limit store is unavailable');

const storeUp = new Gauge({
  name: 'payments_rate_limit_store_up',
  help: '1: requests are counted in the shared store. 0: it is unavailable and this process counts in memory.',
  labelNames: ['environment'],
  registers: [metrics],
});

/** A statement as rate-limiter-flexible passes it to its client. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** Who counts: the public API of an environment, or the dashboard. */
export type CountingHost = EnvironmentName | 'dashboard';

interface RateLimitStoreOptions {
  readonly url: string;
  readonly host: CountingHost;
  /** False behind a connection pooler that does not support them. */
  readonly preparedStatements: boolean;
  readonly logger: Logger;
}

/**
 * The PostgreSQL database in which all gateways count requests together, as the store client of rate-limiter-flexible.
 * After an error or a timeout, statements fail immediately for a second before the database is tried again.
 */
export class RateLimitStore {
  readonly #options: RateLimitStoreOptions;
  readonly #pool: Pool;
  readonly #deleteTimer: NodeJS.Timeout;
  #prepared: Promise<void> | undefined;
  /** When the next statement may try the database again; undefined while it is available. */
  #retryAt: number | undefined;

  constructor(options: RateLimitStoreOptions) {
    this.#options = options;
    this.#pool = new Pool({
      connectionString: options.url,
      application_name: `payments-gateway-${options.host}`,
      max: POOL_SIZE,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      keepAlive: true,
    });
    // An idle connection that dies is replaced by the next statement.
    this.#pool.on('error', () => undefined);
    this.#deleteTimer = setInterval(() => void this.#deleteExpired(), DELETE_INTERVAL_MS).unref();
    storeUp.set({ environment: options.host }, 1);
  }

  /** The rate-limiter-flexible options that make it count here. */
  limiterOptions() {
    return {
      storeClient: this,
      storeType: 'pool',
      schemaName: SCHEMA,
      tableName: TABLE,
      tableCreated: true,
      clearExpiredByTimeout: false,
    };
  }

  /** Checks whether the database is usable. Never rejects: a failure is logged. */
  async open(): Promise<void> {
    await this.query({ text: `select from ${SCHEMA}.${TABLE} limit 0` }).catch(() => undefined);
  }

  /** Runs a statement. Rejects immediately while the database is unavailable. */
  async query({ name, text, values = [] }: Statement): Promise<QueryResult> {
    if (this.#retryAt !== undefined) {
      if (performance.now() < this.#retryAt) throw UNAVAILABLE;
      this.#retryAt = performance.now() + RETRY_MS;
    }
    try {
      this.#prepared ??= this.#createTable();
      await this.#prepared;
      const result = await this.#pool.query({
        ...(name !== undefined && this.#options.preparedStatements && { name }),
        text,
        values,
      });
      if (this.#retryAt !== undefined) this.#markAvailable();
      return result;
    } catch (error) {
      // After an outage the database may be a different one, without the table.
      this.#prepared = undefined;
      this.#markUnavailable(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#deleteTimer);
    await this.#pool.end();
  }

  /** Creates the table if it is missing: in a separate database, or before the services have migrated. */
  async #createTable(): Promise<void> {
    const { rows } = await this.#pool.query(
      bindNamed('select to_regclass(:table) as found', { table: `${SCHEMA}.${TABLE}` }),
    );
    if (rows[0].found === null) await migrate(this.#options.url, [MIGRATION]);
  }

  #markUnavailable(error: unknown): void {
    const { logger, host: environment } = this.#options;
    if (this.#retryAt === undefined) {
      storeUp.set({ environment }, 0);
      logger.warn({ err: error, environment }, 'the rate-limit store is unavailable; counting in memory');
    }
    this.#retryAt = performance.now() + RETRY_MS;
  }

  #markAvailable(): void {
    const { logger, host: environment } = this.#options;
    this.#retryAt = undefined;
    storeUp.set({ environment }, 1);
    logger.info({ environment }, 'the rate-limit store is available again');
  }

  async #deleteExpired(): Promise<void> {
    // Without requests, nothing else would notice that the database is back.
    if (this.#retryAt !== undefined) await this.open();
    const text = `delete from ${SCHEMA}.${TABLE} where key = any (array(
      select key from ${SCHEMA}.${TABLE} where expire < :before limit ${DELETE_BATCH} for update skip locked))`;
    try {
      for (let deleted = DELETE_BATCH; deleted === DELETE_BATCH; ) {
        const { rowCount } = await this.#pool.query(bindNamed(text, { before: Date.now() - RETENTION_MS }));
        deleted = rowCount ?? 0;
      }
    } catch {
      // The next run deletes them; an unavailable database has been logged already.
    }
  }
}
