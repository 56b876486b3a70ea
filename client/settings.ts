/** The options of a client. */
export interface MerchantPaymentsOptions {
  /** A key of the environment that `baseUrl` serves; it starts with mpk_live_ or mpk_test_. */
  readonly apiKey: string;
  /** The address of the environment, such as https://sandbox.payments.example; https, except on this machine. */
  readonly baseUrl: string;
  /** How often a request that failed may be repeated; 3 by default. */
  readonly maxRetries?: number;
  /** How long one attempt may take, in milliseconds; 30 seconds by default. */
  readonly timeoutMs?: number;
  /** Sends the requests, in place of the global fetch. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export type Environment = 'live' | 'test';

/** Options that have been checked, with their defaults. */
export interface Settings extends Required<MerchantPaymentsOptions> {
  readonly environment: Environment;
}

const KEY = /^mpk_(live|test)_[0-9A-Za-z]+$/;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Throws a TypeError that says what to change. */
export function readSettings(options: MerchantPaymentsOptions): Settings {
  const { maxRetries = 3, timeoutMs = 30_000 } = options;
  const environment = environmentOf(options.apiKey);
  if (environment === 'live' && isBrowser()) {
    throw new TypeError(
      'A live API key must not be used in a browser, where everyone who opens the page can read it. Call the API from your server.',
    );
  }
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new TypeError('maxRetries must be a whole number, 0 or more.');
  requireTimeout(timeoutMs);
  return {
    apiKey: options.apiKey,
    environment,
    baseUrl: baseUrlOf(options.baseUrl),
    maxRetries,
    timeoutMs,
    // Looked up at the time of the call, because instrumentation may replace it.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  };
}

/** Timers run at once if they are set for longer. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** Throws a TypeError for a time that no timer can wait. */
export function requireTimeout(timeoutMs: number): void {
  if (Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return;
  throw new TypeError(`timeoutMs must be a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`);
}

function environmentOf(apiKey: unknown): Environment {
  const environment = typeof apiKey === 'string' ? KEY.exec(apiKey)?.[1] : undefined;
  // The key itself is not in the message, which may be logged.
  if (!environment)
    throw new TypeError('apiKey must be an API key, which starts with mpk_live_ or mpk_test_.');
  return environment as Environment;
}

/** The address without a slash at the end. The key must not cross a network in the clear. */
function baseUrlOf(text: unknown): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  const hasMore = url && (url.username || url.password || url.search || url.hash);
  if (!url || hasMore || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl must be the address of the API, such as https://sandbox.payments.example.');
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new TypeError(`baseUrl must use https, except on this machine: ${url.origin}`);
  }
  return url.href.replace(/\/+$/, '');
}

/** Whether this is a page of a browser, or one of its workers. Workers of an edge runtime do not call themselves Mozilla. */
function isBrowser(): boolean {
  const { window, navigator } = globalThis as {
    window?: { document?: unknown };
    navigator?: { userAgent?: string };
  };
  const isWorker = 'WorkerGlobalScope' in globalThis && (navigator?.userAgent ?? '').startsWith('Mozilla/');
  return window?.document !== undefined || isWorker;
}
