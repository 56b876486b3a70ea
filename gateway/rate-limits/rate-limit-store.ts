import { Pool, type QueryResult } from 'pg';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { migrate } from '../../services/platform/database/migrate.ts';
import { metrics } from '../../services/platform/process/telemetry.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';

const SCHEMA = 'rate_limit';
const TABLE = 'request_count';
const MIGRATION = '0009_rate_limits.sql';

const POOL_SIZE = 5;
/** No request waits longer for its count. */
const PATIENCE_MS = 500;
/** While the database is away, one request at a time finds out whether it is back. */
const RETRY_MS = 1_000;
/** Clocks of gateways may differ by that much before one deletes what another still counts. */
const KEPT_MS = 10_000;
const DELETE_INTERVAL_MS = 10_000;
const DELETE_BATCH = 10_000;

const AWAY = new Error('the store of rate limits is away');

const storeUp = new Gauge({
  name: 'payments_rate_limit_store_up',
  help: '1: requests are counted in the shared store. 0: it is away, this process counts for itself.',
  labelNames: ['environment'],
  registers: [metrics],
});

/** A statement as rate-limiter-flexible hands it to its client. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

interface RateLimitStoreOptions {
  readonly url: string;
  readonly environment: EnvironmentName;
  /** Off behind a pooler that does not keep them. */
  readonly preparedStatements: boolean;
  readonly logger: Logger;
}

/**
 * The PostgreSQL database in which all gateways count together: what rate-limiter-flexible takes for its client. A
 * database that fails, or takes too long, is left alone for a moment, in which every statement fails at once.
 */
export class RateLimitStore {
  readonly #options: RateLimitStoreOptions;
  readonly #pool: Pool;
  readonly #deleting: NodeJS.Timeout;
  #prepared: Promise<void> | undefined;
  /** When a statement may find out whether the database is back; undefined while it is there. */
  #retryAt: number | undefined;

  constructor(options: RateLimitStoreOptions) {
    this.#options = options;
    this.#pool = new Pool({
      connectionString: options.url,
      application_name: `payments-gateway-${options.environment}`,
      max: POOL_SIZE,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
      keepAlive: true,
    });
    // A connection that dies while nobody uses it; the next statement gets another one.
    this.#pool.on('error', () => undefined);
    this.#deleting = setInterval(() => void this.#deleteExpired(), DELETE_INTERVAL_MS).unref();
    storeUp.set({ environment: options.environment }, 1);
  }

  /** Settings with which rate-limiter-flexible counts here. */
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

  /** Finds out at start whether the database can be used. Never rejects: the log says what is wrong. */
  async open(): Promise<void> {
    await this.query({ text: `select from ${SCHEMA}.${TABLE} limit 0` }).catch(() => undefined);
  }

  /** Runs a statement. Rejects at once while the database is away. */
  async query({ name, text, values = [] }: Statement): Promise<QueryResult> {
    if (this.#retryAt !== undefined) {
      if (performance.now() < this.#retryAt) throw AWAY;
      this.#retryAt = performance.now() + RETRY_MS;
    }
    try {
      this.#prepared ??= this.#makeTable();
      await this.#prepared;
      const result = await this.#pool.query({
        ...(name !== undefined && this.#options.preparedStatements && { name }),
        text,
        values,
      });
      if (this.#retryAt !== undefined) this.#isBack();
      return result;
    } catch (error) {
      // What comes back may be another database, without the table.
      this.#prepared = undefined;
      this.#isAway(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#deleting);
    await this.#pool.end();
  }

  /** Makes the table where nobody has: in a database of its own, or before the services' migrations. */
  async #makeTable(): Promise<void> {
    const { rows } = await this.#pool.query('select to_regclass($1) as found', [`${SCHEMA}.${TABLE}`]);
    if (rows[0].found === null) await migrate(this.#options.url, [MIGRATION]);
  }

  #isAway(error: unknown): void {
    const { logger, environment } = this.#options;
    if (this.#retryAt === undefined) {
      storeUp.set({ environment }, 0);
      logger.warn(
        { err: error, environment },
        'the store of rate limits is away: this process counts for itself',
      );
    }
    this.#retryAt = performance.now() + RETRY_MS;
  }

  #isBack(): void {
    const { logger, environment } = this.#options;
    this.#retryAt = undefined;
    storeUp.set({ environment }, 1);
    logger.info({ environment }, 'the store of rate limits is back');
  }

  async #deleteExpired(): Promise<void> {
    const text = `delete from ${SCHEMA}.${TABLE} where key = any (array(
      select key from ${SCHEMA}.${TABLE} where expire < $1 limit ${DELETE_BATCH} for update skip locked))`;
    try {
      for (let deleted = DELETE_BATCH; deleted === DELETE_BATCH; ) {
        const { rowCount } = await this.#pool.query(text, [Date.now() - KEPT_MS]);
        deleted = rowCount ?? 0;
      }
    } catch {
      // The next round deletes it; a database that is away has been told of.
    }
  }
}
