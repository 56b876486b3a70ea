import type { Dispatcher } from 'undici';
import type { ConnectionStep } from '../../platform/egress/connection-trace.ts';
import type { TracedConnection, TracedHandler } from '../../platform/egress/guarded-pools.ts';
import { ResponseExcerpt } from './response-excerpt.ts';
import { describeResponseHeaders } from './response-headers.ts';

/** A receiver's response. */
export interface Answer {
  readonly httpStatus: number;
  /** At most 4 KiB of printable UTF-8. */
  readonly responseExcerpt: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
}

/** What an exchange is waiting for: its connection, the start of the response, or the rest of it. */
export type ExchangeStep = Exclude<ConnectionStep, 'OPEN'> | 'RESPONSE' | 'BODY';

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * One request and its response, read up to 64 KiB. It handles undici's events directly, because a stream for each
 * response, which is nearly always empty, costs as much as the request.
 */
export class Exchange implements TracedHandler {
  readonly #startedAtMs = performance.now();
  readonly #answer = Promise.withResolvers<Answer>();
  readonly #excerpt = new ResponseExcerpt();
  #controller: Controller | undefined;
  #connection: TracedConnection | undefined;
  #sentAtMs: number | undefined;
  #firstByteAtMs: number | undefined;
  #httpStatus = 0;
  #headers: Headers = {};
  /** Why it was stopped before its response was complete. */
  #stopped: Error | undefined;

  /** Rejects with the error of undici, of the connector or of `stop`. */
  get answer(): Promise<Answer> {
    return this.#answer.promise;
  }

  get step(): ExchangeStep {
    if (this.#httpStatus !== 0) return 'BODY';
    if (this.#sentAtMs !== undefined) return 'RESPONSE';
    const step = this.#connection?.trace?.step ?? 'CONNECT';
    return step === 'OPEN' ? 'CONNECT' : step;
  }

  /**
   * Milliseconds of DNS, TCP, TLS, and from the request to the start of the response; null for a step that did not
   * happen, as on a connection that was already open.
   */
  timingMs(): (number | null)[] {
    const trace = this.#connection?.trace;
    const isNew = trace !== undefined && trace.startedAtMs >= this.#startedAtMs;
    const steps = (['DNS', 'CONNECT', 'TLS'] as const).map((step) =>
      isNew ? trace.tookMs(step) : undefined,
    );
    const sentAtMs = this.#sentAtMs;
    const wait = sentAtMs === undefined ? undefined : (this.#firstByteAtMs ?? performance.now()) - sentAtMs;
    return [...steps, wait].map((ms) => (ms === undefined ? null : Math.round(ms)));
  }

  /** The headers of the response, without secrets; undefined before it starts. */
  responseHeaders(): string | undefined {
    return this.#firstByteAtMs === undefined ? undefined : describeResponseHeaders(this.#headers);
  }

  /** Stops the exchange at once, even while it waits for a connection. A complete answer is kept. */
  stop(reason: Error): void {
    this.#answer.reject(reason);
    this.#stopped = reason;
    this.#controller?.abort(reason);
  }

  onConnection(connection: TracedConnection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#sentAtMs = performance.now();
    // undici can abort a request only once it has a connection.
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(_controller: Controller, httpStatus: number, headers: Headers): void {
    if (httpStatus < 200) return;
    this.#firstByteAtMs = performance.now();
    this.#httpStatus = httpStatus;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#stopped || this.#excerpt.add(chunk)) return;
    this.onResponseEnd();
    this.stop(TOO_LONG);
  }

  onResponseEnd(): void {
    this.#answer.resolve({
      httpStatus: this.#httpStatus,
      responseExcerpt: this.#excerpt.text(),
      retryAfter: this.#header('retry-after'),
      location: this.#header('location'),
    });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#answer.reject(error);
  }

  #header(name: string): string | undefined {
    return [this.#headers[name]].flat()[0];
  }
}

const TOO_LONG = new Error('the rest of the response is not read');
