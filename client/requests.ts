import { ApiError, ConnectionError, type Problem } from './errors.ts';
import { type List, listOf, type Page } from './pages.ts';
import { isRetryable, retryAfterSecondsOf, retryDelayMs, wait } from './retries.ts';
import { requireTimeout, type Settings } from './settings.ts';

/** Options of one call, in place of the client's. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly maxRetries?: number;
  /** How long one attempt may take, in milliseconds. */
  readonly timeoutMs?: number;
}

export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters. Repeated with the same key within 24 hours, also by another process, the call
   * returns the first response and creates nothing. Without one, each call has its own key.
   */
  readonly idempotencyKey?: string;
}

type Query = Readonly<Record<string, unknown>>;

/** A request as an operation describes it. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** Sends requests, and repeats those that may succeed. */
export class Requests {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Returns the JSON of the response. Throws an {@link ApiError} or a {@link ConnectionError} once no retry is left, or
   * at once if a retry would fail again. Every request can be repeated: it reads, disables, or has an idempotency key.
   */
  async send<Result>(request: ApiRequest, options: CallOptions = {}): Promise<Result> {
    const { maxRetries = this.#settings.maxRetries, signal } = options;
    for (let retry = 0; ; retry += 1) {
      try {
        return (await this.#attempt(request, options)) as Result;
      } catch (failure) {
        if (retry >= maxRetries || !isRetryable(failure)) throw failure;
        await wait(retryDelayMs(failure, retry), signal);
      }
    }
  }

  /** The list at a path: a page's cursor becomes the parameter `after` of the next request. */
  list<OnePage extends Page<unknown>>(
    path: string,
    query: Query | undefined,
    options: CallOptions | undefined,
  ): List<OnePage> {
    return listOf((after) =>
      this.send<OnePage>(
        { method: 'GET', path, query: after === undefined ? query : { ...query, after } },
        options,
      ),
    );
  }

  async #attempt(request: ApiRequest, options: CallOptions): Promise<unknown> {
    const { timeoutMs = this.#settings.timeoutMs, signal } = options;
    requireTimeout(timeoutMs);
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await this.#exchange(request, signal ? AbortSignal.any([signal, timeout]) : timeout);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      signal?.throwIfAborted();
      const { origin } = new URL(this.#settings.baseUrl);
      const reason = timeout.aborted ? `no response within ${timeoutMs} ms` : reasonOf(error);
      throw new ConnectionError(`The connection to ${origin} failed: ${reason}.`, { cause: error });
    }
  }

  async #exchange(
    { method, path, query, body, idempotencyKey }: ApiRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { baseUrl, apiKey, fetch } = this.#settings;
    const response = await fetch(`${baseUrl}${path}${queryString(query)}`, {
      method,
      signal,
      // A redirect could take the key to another host.
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json = parseJson(await response.text());
    if (response.ok && json !== undefined) return json;
    throw new ApiError(response, problemOf(json), retryAfterSecondsOf(response.headers));
  }
}

function queryString(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Proxies and other servers may respond with JSON of their own. */
function problemOf(json: unknown): Partial<Problem> | undefined {
  const isProblem = typeof json === 'object' && json !== null && 'detail' in json && 'requestId' in json;
  return isProblem ? (json as Problem) : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || ('code' in cause ? String(cause.code) : error.message);
}
