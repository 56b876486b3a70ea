import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { ATTEMPT_TIMEOUT_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { ConnectionStep } from '../../platform/egress/connection-trace.ts';
import { codeOf, EgressError, isNotHttp } from '../../platform/egress/egress-error.ts';
import type { EgressGuard } from '../../platform/egress/egress-guard.ts';
import type { TracedConnection, TracedHandler } from '../../platform/egress/guarded-pools.ts';
import type { AttemptFailureName, AttemptResult } from '../deliveries/delivery.ts';
import { describeResponseHeaders, parseRetryAfter, ResponseExcerpt } from './response-record.ts';

export interface SendAttemptDeps {
  /** The guard of the delivery's environment. */
  readonly guard: EgressGuard;
  /** For connecting, sending and the whole response. Default: 15 s. */
  readonly totalTimeoutMs?: number;
}

export interface Attempt {
  /** Only attempts of one subscription share connections. */
  readonly subscriptionId: string;
  readonly url: string;
  /** Sent as `webhook-id`, the same in every attempt. */
  readonly eventId: string;
  /** The exact bytes to send and sign. */
  readonly body: Uint8Array;
  /** `whsec_…`, the current one first; two during a rotation. */
  readonly secrets: readonly string[];
  readonly startedAt: Date;
}

const TIMED_OUT = new Error('the deadline of the attempt has passed');
const ABORTED = new Error('this side ended the attempt');
const TOO_LONG = new Error('the rest of the response is not read');
const NO_FINAL_RESPONSE = new Error('interim responses take up the whole limit');
/**
 * What is read of one exchange with its interim responses, headers and chunk extensions: parsing them keeps the process
 * from other endpoints, and undici limits only each block of headers. Leaves room for a body in chunks of one byte.
 */
const MAX_READ_BYTES = 512 * 1024;

/** The failure of an attempt that exceeds its deadline, by the step in progress. */
const TIMEOUTS: Readonly<Record<ExchangeStep, AttemptFailureName>> = {
  DNS: 'DNS_TIMEOUT',
  CONNECT: 'CONNECT_TIMEOUT',
  TLS: 'TLS_TIMEOUT',
  RESPONSE: 'TIMEOUT',
  BODY: 'BODY_TIMEOUT',
};

/**
 * Sends one webhook and waits for the response. The egress guard checks the URL again, and each address when it
 * connects. Failures: a timeout, by the step in progress at the deadline; PROTOCOL, if the response is not HTTP/1.1,
 * is shorter than it declares or consists of interim responses only; WORKER_LOST, if this side aborted it; and those of
 * the guard.
 * @param signal aborts the attempt.
 * @returns a result, whatever the receiver or the network does.
 * @throws TypeError for a malformed secret, and undici's InvalidArgumentError for an id that is not a valid header
 *   value.
 */
export async function sendAttempt(
  { guard, totalTimeoutMs = ATTEMPT_TIMEOUT_MS }: SendAttemptDeps,
  attempt: Attempt,
  signal?: AbortSignal,
): Promise<AttemptResult> {
  const startedMs = performance.now();
  const exchange = new Exchange();
  const signature = signatureOf(attempt);
  const facts = () => {
    const latencyMs = Math.round(performance.now() - startedMs);
    const endedAt = new Date(attempt.startedAt.getTime() + latencyMs);
    const responseHeaders = exchange.responseHeaders();
    return { endedAt, latencyMs, signature, timingMs: exchange.timingMs(), responseHeaders };
  };
  if (signal?.aborted) return { ...facts(), failure: 'WORKER_LOST' };
  const deadline = setTimeout(() => exchange.stop(TIMED_OUT), totalTimeoutMs);
  const onAbort = () => exchange.stop(ABORTED);
  signal?.addEventListener('abort', onAbort);
  try {
    dispatch(exchange, guard, attempt, signature);
    const answer = await exchange.answer;
    const { httpStatus, responseExcerpt } = answer;
    const detail = isRedirect(httpStatus) ? redirectLocation(answer.location, attempt.url) : undefined;
    return { ...facts(), httpStatus, responseExcerpt, retryAfterMs: retryAfterOf(answer), detail };
  } catch (error) {
    const failure = error === TIMED_OUT ? TIMEOUTS[exchange.step] : failureOf(error);
    return {
      ...facts(),
      failure,
      detail: error instanceof EgressError ? error.certificateNames : undefined,
    };
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', onAbort);
  }
}

function dispatch(exchange: Exchange, guard: EgressGuard, attempt: Attempt, signature: string): void {
  const check = guard.checkUrl(attempt.url);
  if (!check.ok) throw new EgressError('EGRESS_DENIED', `the url ${check.detail}`);
  const { body } = attempt;
  const headers = webhookHeaders({ ...attempt, signature });
  const request = { method: 'POST', path: check.url.path, headers, body };
  guard.dispatcherFor(attempt.subscriptionId, check.url).dispatch(request, exchange);
}

const MAX_LOCATION_LENGTH = 300;

/**
 * The target of a Location header as scheme, host, port and path, without the query, which may hold secrets.
 * @param url the URL that was called, which a relative Location refers to.
 * @returns undefined for a missing or malformed header.
 */
function redirectLocation(location: string | undefined, url: string): string | undefined {
  const target = location === undefined ? null : URL.parse(location, url);
  return target
    ? `${target.protocol}//${target.host}${target.pathname}`.slice(0, MAX_LOCATION_LENGTH)
    : undefined;
}

const isRedirect = (httpStatus: number) => httpStatus >= 300 && httpStatus < 400;

function retryAfterOf({ httpStatus, retryAfter }: Answer): number | undefined {
  if (httpStatus !== 429 && httpStatus !== 503) return undefined;
  return parseRetryAfter(retryAfter, Date.now());
}

/** Rethrows errors that no receiver can cause: a bug on our side is not a failed attempt. */
function failureOf(error: unknown): AttemptFailureName {
  if (error === ABORTED) return 'WORKER_LOST';
  if (error instanceof EgressError) return error.kind;
  if (error === NO_FINAL_RESPONSE || isNotHttp(error)) return 'PROTOCOL';
  const code = codeOf(error);
  if (code === undefined || code === 'UND_ERR_INVALID_ARG') throw error;
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return 'WORKER_LOST';
  // undici's code for a peer that closed the connection before its response was complete.
  if (code === 'UND_ERR_SOCKET') return 'CONNECTION_RESET';
  if (code.startsWith('ERR_SSL_')) return 'TLS';
  // undici asserts that a status is at least 100.
  if (code.startsWith('UND_ERR_') || code === 'ERR_ASSERTION') return 'PROTOCOL';
  return 'CONNECTION_RESET';
}

/** What the signature of a webhook depends on. */
type UnsignedRequest = Pick<Attempt, 'eventId' | 'body' | 'secrets' | 'startedAt'>;

/** What the headers of a webhook depend on. */
interface SignedRequest extends Pick<Attempt, 'eventId' | 'startedAt'> {
  readonly signature: string;
}

const USER_AGENT = 'Merchant-Payments-Webhooks/1.0';

/** The `webhook-timestamp` of an attempt: Unix time in seconds. */
const timestampOf = (startedAt: Date) => Math.floor(startedAt.getTime() / 1000);

/** The `webhook-signature` of an attempt. @throws TypeError for a malformed secret. */
const signatureOf = ({ eventId: id, body, secrets, startedAt }: UnsignedRequest) =>
  signWebhook({ id, timestamp: timestampOf(startedAt), body }, secrets);

/** The headers of a webhook, without those of the connection, in the order in which they are sent. */
export const webhookHeaders = ({ eventId, startedAt, signature }: SignedRequest) => ({
  'content-type': 'application/json',
  'user-agent': USER_AGENT,
  'webhook-id': eventId,
  'webhook-timestamp': `${timestampOf(startedAt)}`,
  'webhook-signature': signature,
});

/** The headers of a webhook that is signed now. @throws TypeError for a malformed secret. */
export const signedHeaders = (request: UnsignedRequest) =>
  webhookHeaders({ ...request, signature: signatureOf(request) });

const SECRET_PREFIX = 'whsec_';

export interface SignedContent {
  /** The event's id, sent as `webhook-id`. */
  readonly id: string;
  /** Unix time in seconds, sent as `webhook-timestamp`. */
  readonly timestamp: number;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/**
 * The `webhook-signature` header of Standard Webhooks v1: one signature per secret, separated by spaces, so that during a
 * rotation the receiver can verify with either secret.
 * @param secrets `whsec_` and base64, at least one.
 * @throws TypeError for a malformed secret; the message does not contain it.
 */
export function signWebhook({ id, timestamp, body }: SignedContent, secrets: readonly string[]): string {
  if (secrets.length === 0) throw new TypeError('a webhook needs at least one signing secret');
  return secrets
    .map((secret) => {
      const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
      return `v1,${mac.digest('base64')}`;
    })
    .join(' ');
}

/** Recently used keys: creating a KeyObject costs four times as much as a signature. */
const keys = new Map<string, KeyObject>();
const MAX_KEYS = 1_000;

function keyOf(secret: string): KeyObject {
  let key = keys.get(secret);
  if (!key) {
    key = createSecretKey(bytesOf(secret));
    if (keys.size === MAX_KEYS) keys.clear();
    keys.set(secret, key);
  }
  return key;
}

function bytesOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  if (!secret.startsWith(SECRET_PREFIX) || key.length === 0) {
    throw new TypeError(`a signing secret is ${SECRET_PREFIX} and base64`);
  }
  return key;
}

/** A receiver's response. */
interface Answer {
  readonly httpStatus: number;
  /** At most 4 KiB of printable UTF-8. */
  readonly responseExcerpt: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
}

/** What an exchange is waiting for: its connection, the start of the response, or the rest of it. */
type ExchangeStep = Exclude<ConnectionStep, 'OPEN'> | 'RESPONSE' | 'BODY';

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * One request and its response, read up to 64 KiB. It handles undici's events directly, because a stream for each
 * response, which is nearly always empty, costs as much as the request.
 */
class Exchange implements TracedHandler {
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
  /** Ends the limit of reading. */
  #unlimit: (() => void) | undefined;

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
    this.#limitReading(this.#connection?.socket);
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
    if (!this.#stopped && !this.#excerpt.add(chunk)) this.#cutShort();
  }

  onResponseEnd(): void {
    this.#unlimit?.();
    this.#answer.resolve({
      httpStatus: this.#httpStatus,
      responseExcerpt: this.#excerpt.text(),
      retryAfter: this.#header('retry-after'),
      location: this.#header('location'),
    });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#unlimit?.();
    this.#answer.reject(error);
  }

  /** Stops at the limit, after undici has parsed what came last. */
  #limitReading(socket: Socket | undefined): void {
    if (!socket) return;
    const endAt = socket.bytesRead + MAX_READ_BYTES;
    const onReadable = () => {
      if (socket.bytesRead > endAt) this.#cutShort();
    };
    socket.on('readable', onReadable);
    this.#unlimit = () => socket.off('readable', onReadable);
  }

  /** Reads no more: the response is complete without the rest, unless it has not begun. */
  #cutShort(): void {
    if (this.#httpStatus > 0) this.onResponseEnd();
    this.stop(this.#httpStatus > 0 ? TOO_LONG : NO_FINAL_RESPONSE);
  }

  #header(name: string): string | undefined {
    return [this.#headers[name]].flat()[0];
  }
}
