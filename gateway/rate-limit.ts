const WINDOW_MS = 1_000;
const WINDOW_SECONDS = 1;

/**
 * So many requests per second and key, counted in memory: one window for all keys, forgotten as a whole when it ends,
 * so the memory is bounded by a second's traffic.
 */
export class RateLimit {
  readonly perSecond: number;
  readonly #name: string;
  readonly #policy: string;
  readonly #counts = new Map<string, number>();
  #windowEndsAt = 0;

  /** `name` tells the policies of one API apart in the headers. */
  constructor(name: string, perSecond: number) {
    this.#name = name;
    this.perSecond = perSecond;
    this.#policy = `"${name}";q=${perSecond};w=${WINDOW_SECONDS}`;
  }

  /** Counts a request and answers how many more this second has; -1 when this one is already too many. */
  take(key: string): number {
    const left = this.left(key) - 1;
    if (left >= 0) this.#counts.set(key, this.perSecond - left);
    return left;
  }

  /** How many requests this second has left. */
  left(key: string): number {
    const now = performance.now();
    if (now >= this.#windowEndsAt) {
      this.#counts.clear();
      this.#windowEndsAt = now + WINDOW_MS;
    }
    return this.perSecond - (this.#counts.get(key) ?? 0);
  }

  /** RateLimit-Policy and RateLimit, for an answer after which so many requests are left. */
  headers(left: number): { 'ratelimit-policy': string; ratelimit: string } {
    return {
      'ratelimit-policy': this.#policy,
      ratelimit: `"${this.#name}";r=${Math.max(left, 0)};t=${WINDOW_SECONDS}`,
    };
  }

  /** The same and Retry-After, for a request that was one too many. */
  refusalHeaders(): Record<string, string> {
    return { ...this.headers(0), 'retry-after': String(WINDOW_SECONDS) };
  }
}
