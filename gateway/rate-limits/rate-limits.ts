import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { type Config, ConfigError } from '../../services/platform/process/config.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { RateLimit, WINDOW_SECONDS } from './rate-limit.ts';
import { RateLimitStore } from './rate-limit-store.ts';

/** The settings that the limits are made from. */
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
 * The limits of one environment. They are counted in the memory of this process, or in a store that all gateways
 * share; while that is away, in memory again. Both forget what is a few seconds old, so no flood of keys or addresses
 * fills them.
 */
export class RateLimits {
  /** Requests with a valid key, by the key's id. */
  readonly key: RateLimit;
  /** Requests without one, by address. */
  readonly address: RateLimit;
  /** Keys that were asked for and are none, by address: always in memory, since it only spares us the asking. */
  readonly guesses: RateLimit;
  readonly #store: RateLimitStore | undefined;

  /** ConfigError: the store that the settings name cannot be known. */
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
    this.guesses = new RateLimit(
      'address',
      new RateLimiterMemory({ points: perAddress, duration: WINDOW_SECONDS }),
    );
  }

  /** Connects to the store, if there is one; one that is away is told of in the log. */
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
      // Who has used up a window costs the store no more statements in it.
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: memory,
    });
  }
}

function storeUrl({ RATE_LIMIT_STORE, DATABASE_URL }: RateLimitConfig): string | undefined {
  if (RATE_LIMIT_STORE === 'memory') return undefined;
  if (RATE_LIMIT_STORE !== 'postgresql') return RATE_LIMIT_STORE;
  if (DATABASE_URL === undefined)
    throw new ConfigError(['RATE_LIMIT_STORE postgresql takes DATABASE_URL too']);
  return DATABASE_URL;
}
