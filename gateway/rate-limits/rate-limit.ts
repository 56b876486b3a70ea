import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';

/** The outcome of counting a request against a limit. */
export interface Quota {
  /** False when the request exceeds the limit. */
  readonly allowed: boolean;
  /** Requests that the limit allows per second. */
  readonly perSecond: number;
  /** RateLimit-Policy and RateLimit as in draft-ietf-httpapi-ratelimit-headers. */
  readonly headers: { readonly 'ratelimit-policy': string; readonly ratelimit: string };
  /** Whole seconds until requests are allowed again. */
  readonly retryAfter: number;
}

/** The window of every limit, in seconds. It starts with the first request of a key or address. */
export const WINDOW_SECONDS = 1;

/** A limit on requests per second, per API key or per address. */
export class RateLimit {
  /** Requests allowed per second. */
  readonly perSecond: number;
  readonly #name: string;
  readonly #limiter: RateLimiterAbstract;
  readonly #policy: string;

  /** `name` distinguishes the policies in the response headers. */
  constructor(name: string, limiter: RateLimiterAbstract) {
    this.perSecond = limiter.points;
    this.#name = name;
    this.#limiter = limiter;
    this.#policy = `"${name}";q=${limiter.points};w=${WINDOW_SECONDS}`;
  }

  /** Counts a request. */
  async consume(key: string): Promise<Quota> {
    try {
      return this.#quota(true, await this.#limiter.consume(key));
    } catch (error) {
      if (error instanceof RateLimiterRes) return this.#quota(false, error);
      throw error;
    }
  }

  /** Checks, without counting, whether another request would be allowed when `pending` others may still be counted. */
  async peek(key: string, pending: number): Promise<Quota> {
    const used = await this.#limiter.get(key);
    const left = used === null || used.msBeforeNext <= 0 ? this.perSecond : used.remainingPoints;
    return this.#quota(left > pending, used);
  }

  #quota(allowed: boolean, used: RateLimiterRes | null): Quota {
    const seconds = Math.max(Math.ceil((used?.msBeforeNext ?? 0) / 1_000), 1);
    const left = allowed ? (used?.remainingPoints ?? this.perSecond) : 0;
    return {
      allowed,
      perSecond: this.perSecond,
      headers: { 'ratelimit-policy': this.#policy, ratelimit: `"${this.#name}";r=${left};t=${seconds}` },
      retryAfter: seconds,
    };
  }
}
