import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { type Config, ConfigError } from '../../services/platform/process/config.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { RateLimit, WINDOW_SECONDS } from './rate-limit.ts';
import { RateLimitStore } from './rate-limit-store.ts';

/** The settings of the limits. */
export type RateLimitConfig = Pick<
  Config,
  | 'RATE_LIMIT_LIVE'
  | 'RATE_LIMIT_SANDBOX'
  | 'RATE_LIMIT_ADDRESS'
  | 'RATE_LIMIT_STORE'
  | 'DATABASE_URL'
  | 'DATABASE_PREPARED_STATEMENTS'
>;

interface RateLimitsOptions {
  readonly environment: EnvironmentName;
  readonly config: RateLimitConfig;
  readonly logger: Logger;
}

/**
 * The limits of one environment, counted in memory or in a store shared by all gateways, with memory as the fallback
 * while the store is unavailable. Counts older than a few seconds are dropped, so a flood of keys or addresses cannot
 * exhaust either.
 */
export class RateLimits {
  /** Requests with a valid key, by key id. */
  readonly key: RateLimit;
  /** Requests without a valid key, by address. */
  readonly address: RateLimit;
  /** Lookups of keys that turned out invalid, by address. Always in memory, since it only protects this process. */
  readonly failedLookups: RateLimit;
  readonly #store: RateLimitStore | undefined;

  /** ConfigError when RATE_LIMIT_STORE is postgresql without DATABASE_URL. */
  constructor({ environment, config, logger }: RateLimitsOptions) {
    const url = storeUrl(config);
    this.#store =
      url === undefined
        ? undefined
        : new RateLimitStore({
            url,
            environment,
            preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
            logger,
          });
    const perKey = environment === 'live' ? config.RATE_LIMIT_LIVE : config.RATE_LIMIT_SANDBOX;
    this.key = new RateLimit('key', this.#limiter(`${environment} key`, perKey));
    const perAddress = config.RATE_LIMIT_ADDRESS;
    this.address = new RateLimit('address', this.#limiter(`${environment} address`, perAddress));
    this.failedLookups = new RateLimit(
      'address',
      new RateLimiterMemory({ points: perAddress, duration: WINDOW_SECONDS }),
    );
  }

  /** Connects to the store, if one is configured; an unavailable one is logged. */
  async open(): Promise<void> {
    await this.#store?.open();
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  #limiter(keyPrefix: string, points: number) {
    const options = { keyPrefix, points, duration: WINDOW_SECONDS };
    const memory = new RateLimiterMemory(options);
    if (!this.#store) return memory;
    return new RateLimiterPostgres({
      ...options,
      ...this.#store.limiterOptions(),
      // A key that has used up its window causes no more statements until the window ends.
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: memory,
    });
  }
}

function storeUrl({ RATE_LIMIT_STORE, DATABASE_URL }: RateLimitConfig): string | undefined {
  if (RATE_LIMIT_STORE === 'memory') return undefined;
  if (RATE_LIMIT_STORE !== 'postgresql') return RATE_LIMIT_STORE;
  if (DATABASE_URL === undefined)
    throw new ConfigError(['RATE_LIMIT_STORE=postgresql requires DATABASE_URL']);
  return DATABASE_URL;
}
