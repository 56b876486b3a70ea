import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { type Config, ConfigError } from '../../services/platform/process/config.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { RateLimit, WINDOW_SECONDS } from './rate-limit.ts';
import { type CountingHost, RateLimitStore } from './rate-limit-store.ts';

/** Where requests are counted. */
type StoreConfig = Pick<Config, 'RATE_LIMIT_STORE' | 'DATABASE_URL' | 'DATABASE_PREPARED_STATEMENTS'>;

export type RateLimitConfig = StoreConfig &
  Pick<Config, 'RATE_LIMIT_LIVE' | 'RATE_LIMIT_SANDBOX' | 'RATE_LIMIT_ADDRESS'>;

/** A person needs two requests to sign in; an office may share an address. */
const SIGN_IN_WINDOW_SECONDS = 60;

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
    this.#store = storeOf(config, environment, logger);
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
    return limiterIn(this.#store, { keyPrefix, points, duration: WINDOW_SECONDS });
  }
}

/**
 * A limit on the steps of sign-ins per address, which counts where the limits of the public API count. ConfigError when
 * RATE_LIMIT_STORE is postgresql without DATABASE_URL.
 */
export function openSignInLimit(config: StoreConfig & Pick<Config, 'SIGN_IN_LIMIT_ADDRESS'>, logger: Logger) {
  const store = storeOf(config, 'dashboard', logger);
  const options = { points: config.SIGN_IN_LIMIT_ADDRESS, duration: SIGN_IN_WINDOW_SECONDS };
  const signInLimit = new RateLimit(
    'address',
    limiterIn(store, { keyPrefix: 'sign-in address', ...options }),
  );
  return { signInLimit, close: async () => store?.close() };
}

interface LimiterOptions {
  readonly keyPrefix: string;
  readonly points: number;
  readonly duration: number;
}

function limiterIn(store: RateLimitStore | undefined, options: LimiterOptions) {
  const memory = new RateLimiterMemory(options);
  if (!store) return memory;
  return new RateLimiterPostgres({
    ...options,
    ...store.limiterOptions(),
    // A key that has used up its window causes no more statements until the window ends.
    inMemoryBlockOnConsumed: options.points,
    insuranceLimiter: memory,
  });
}

function storeOf(config: StoreConfig, host: CountingHost, logger: Logger) {
  const url = storeUrl(config);
  const preparedStatements = config.DATABASE_PREPARED_STATEMENTS;
  return url === undefined ? undefined : new RateLimitStore({ url, host, preparedStatements, logger });
}

function storeUrl({ RATE_LIMIT_STORE, DATABASE_URL }: StoreConfig): string | undefined {
  if (RATE_LIMIT_STORE === 'memory') return undefined;
  if (RATE_LIMIT_STORE !== 'postgresql') return RATE_LIMIT_STORE;
  if (DATABASE_URL === undefined)
    throw new ConfigError(['RATE_LIMIT_STORE=postgresql requires DATABASE_URL']);
  return DATABASE_URL;
}
