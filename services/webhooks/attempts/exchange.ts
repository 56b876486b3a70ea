import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { ConnectionStep } from '../../platform/egress/connection-trace.ts';
import type { TracedConnection, TracedHandler } from '../../platform/egress/guarded-pools.ts';
import { MAX_RETRY_AFTER_MS } from './attempt-limits.ts';

const TOO_LONG = new Error('the rest of the response is not read');
export const NO_FINAL_RESPONSE = new Error('interim responses take up the whole limit');
/**
 * The maximum number of bytes read of one exchange, including interim responses, headers and chunk extensions: parsing
 * them takes time from other endpoints, and undici limits only each block of headers. Leaves room for a body in chunks
 * of one byte.
 */
const MAX_READ_BYTES = 512 * 1024;

/** The response of a receiver. */
export interface ReceivedResponse {
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
  readonly #response = Promise.withResolvers<ReceivedResponse>();
  /** Rejects with the error of undici, of the connector or of `stop`. */
  readonly response: Promise<ReceivedResponse> = this.#response.promise;
  /** The beginning of the body. */
  readonly #kept: Uint8Array[] = [];
  #readBytes = 0;
  #controller: Controller | undefined;
  #connection: TracedConnection | undefined;
  #sentAtMs: number | undefined;
  #firstByteAtMs: number | undefined;
  #httpStatus = 0;
  #headers: Headers = {};
  /** Why it was stopped before its response was complete. */
  #stopReason: Error | undefined;
  /** Stops counting what is read. */
  #stopCounting: (() => void) | undefined;

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

  /** Stops the exchange at once, even while it waits for a connection. A complete response is kept. */
  stop(reason: Error): void {
    this.#response.reject(reason);
    this.#stopReason = reason;
    this.#controller?.abort(reason);
  }

  onConnection(connection: TracedConnection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#sentAtMs = performance.now();
    this.#limitReading(this.#connection?.socket);
    // undici can abort a request only once it has a connection.
    if (this.#stopReason) controller.abort(this.#stopReason);
  }

  onResponseStart(_controller: Controller, httpStatus: number, headers: Headers): void {
    if (httpStatus < 200) return;
    this.#firstByteAtMs = performance.now();
    this.#httpStatus = httpStatus;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#stopReason) return;
    if (this.#readBytes < MAX_EXCERPT_BYTES) this.#kept.push(chunk);
    this.#readBytes += chunk.length;
    if (this.#readBytes >= MAX_RESPONSE_READ_BYTES) this.#stopReading();
  }

  onResponseEnd(): void {
    this.#stopCounting?.();
    this.#response.resolve({
      httpStatus: this.#httpStatus,
      responseExcerpt: this.#kept.length === 0 ? '' : excerptOf(Buffer.concat(this.#kept)),
      retryAfter: this.#header('retry-after'),
      location: this.#header('location'),
    });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#stopCounting?.();
    this.#response.reject(error);
  }

  /** Stops at the limit, after undici has parsed what came last. */
  #limitReading(socket: Socket | undefined): void {
    if (!socket) return;
    const endAt = socket.bytesRead + MAX_READ_BYTES;
    const onReadable = () => {
      if (socket.bytesRead > endAt) this.#stopReading();
    };
    socket.on('readable', onReadable);
    this.#stopCounting = () => socket.off('readable', onReadable);
  }

  /** Reads no more: the response is complete without the rest, unless it has not begun. */
  #stopReading(): void {
    if (this.#httpStatus > 0) this.onResponseEnd();
    this.stop(this.#httpStatus > 0 ? TOO_LONG : NO_FINAL_RESPONSE);
  }

  #header(name: string): string | undefined {
    return [this.#headers[name]].flat()[0];
  }
}

export const MAX_RESPONSE_READ_BYTES = 64 * 1024;
export const MAX_EXCERPT_BYTES = 4 * 1024;

/** C0 except tab and line ends, DEL and C1: PostgreSQL rejects NUL, and terminals interpret the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters on purpose
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** At most 4 KiB of UTF-8 text; bytes that are not text and control characters become U+FFFD. */
export function excerptOf(bytes: Uint8Array): string {
  const safe = decodeStart(bytes).replace(CONTROL_CHARACTERS, '\ufffd');
  // A replacement character is longer than what it replaces, so a text that may be too long now is cut a second time.
  return safe.length * MAX_BYTES_OF_UNIT <= MAX_EXCERPT_BYTES ? safe : decodeStart(Buffer.from(safe));
}

/** The most bytes of UTF-8 for one UTF-16 code unit. */
const MAX_BYTES_OF_UNIT = 3;
const decoder = new TextDecoder();

/** The first 4 KiB; `stream` omits a character that the cut splits. */
function decodeStart(bytes: Uint8Array): string {
  if (bytes.length <= MAX_EXCERPT_BYTES) return decoder.decode(bytes);
  return new TextDecoder().decode(bytes.subarray(0, MAX_EXCERPT_BYTES), { stream: true });
}

const MAX_VALUE_LENGTH = 200;
const MAX_LENGTH = 1_024;
/** Headers whose values may be secrets of the endpoint or its users. */
const SECRET = /cookie|auth|token|secret|session|signature|api-?key|password|credential/i;
const OMITTED = '[omitted]';

/**
 * The headers of a response for people: a line `name: value` for each, without values that may be secret. At most 1,024
 * characters: long values are cut, and headers that do not fit are left out.
 */
function describeResponseHeaders(headers: IncomingHttpHeaders): string {
  let text = '';
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : (values ?? [])) {
      const line = `${name}: ${SECRET.test(name) ? OMITTED : printable(value)}`;
      if (text.length + line.length + 1 > MAX_LENGTH) continue;
      text += text === '' ? line : `\n${line}`;
    }
  }
  return text;
}

/** The start of a header's value, safe to store and show. Values are Latin-1 without line ends. */
function printable(value: string): string {
  const start = value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH - 1)}…` : value;
  return start.replace(CONTROL_CHARACTERS, '\ufffd');
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Reads a Retry-After header: seconds or an HTTP-date in any of its three forms (RFC 9110, 5.6.7 and 10.2.3).
 * @returns milliseconds from now, 0 to 24 hours; undefined for a missing or malformed header.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : untilHttpDate(text, nowMs);
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

function untilHttpDate(text: string, nowMs: number): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The asctime form names no zone and means UTC.
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) - nowMs;
}
