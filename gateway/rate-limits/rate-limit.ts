import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';

/** What a limit says of a request. */
export interface Quota {
  /** False when the request is one too many. */
  readonly admitted: boolean;
  /** What the limit admits in a second. */
  readonly perSecond: number;
  /** RateLimit-Policy and RateLimit, as draft-ietf-httpapi-ratelimit-headers writes them. */
  readonly headers: { readonly 'ratelimit-policy': string; readonly ratelimit: string };
  /** Whole seconds after which requests are admitted again. */
  readonly retryAfter: number;
}

/** The length of every limit's window in seconds. It begins with the first request of a key or an address. */
export const WINDOW_SECONDS = 1;

/** So many requests per second and key, or per second and address. */
export class RateLimit {
  /** What it admits in a second. */
  readonly perSecond: number;
  readonly #name: string;
  readonly #limiter: RateLimiterAbstract;
  readonly #policy: string;

  /** `name` tells the policies of one API apart in the headers. */
  constructor(name: string, limiter: RateLimiterAbstract) {
    this.perSecond = limiter.points;
    this.#name = name;
    this.#limiter = limiter;
    this.#policy = `"${name}";q=${limiter.points};w=${WINDOW_SECONDS}`;
  }

  /** Counts a request. */
  async take(key: string): Promise<Quota> {
    try {
      return this.#quota(true, await this.#limiter.consume(key));
    } catch (error) {
      if (error instanceof RateLimiterRes) return this.#quota(false, error);
      throw error;
    }
  }

  /** Whether another request would be admitted beside so many that may yet be counted, without counting one. */
  async peek(key: string, others: number): Promise<Quota> {
    const used = await this.#limiter.get(key);
    const left = used === null || used.msBeforeNext <= 0 ? this.perSecond : used.remainingPoints;
    return this.#quota(left > others, used);
  }

  #quota(admitted: boolean, used: RateLimiterRes | null): Quota {
    const seconds = Math.max(Math.ceil((used?.msBeforeNext ?? 0) / 1_000), 1);
    const left = admitted ? (used?.remainingPoints ?? this.perSecond) : 0;
    return {
      admitted,
      perSecond: this.perSecond,
      headers: { 'ratelimit-policy': this.#policy, ratelimit: `"${this.#name}";r=${left};t=${seconds}` },
      retryAfter: seconds,
    };
  }
}
