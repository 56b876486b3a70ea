import { ATTEMPT_TIMEOUT_MS } from '../../services/contracts/webhooks/delivery-limits.ts';
import {
  codeOf,
  EgressError,
  type EgressFailureKind,
  isNotHttp,
} from '../../services/platform/egress/egress-error.ts';
import type { EgressGuard } from '../../services/platform/egress/egress-guard.ts';
import { type Answer, Exchange } from './exchange.ts';
import { parseRetryAfter } from './retry-after.ts';
import { signWebhook } from './sign.ts';

/**
 * Why there was no whole response.
 * - TIMEOUT: the total deadline passed, even if a body was still arriving.
 * - PROTOCOL: the response is not HTTP/1.1, or shorter than it declares.
 * - ABORTED: this side ended it, by the caller's signal or by closing the guard.
 */
export type AttemptFailureKind = EgressFailureKind | 'TIMEOUT' | 'PROTOCOL' | 'ABORTED';

export interface SendAttemptDeps {
  /** Of the delivery's environment. */
  readonly guard: EgressGuard;
  /** For connecting, sending and the whole response. Default: 15 s. */
  readonly totalTimeoutMs?: number;
  readonly userAgent?: string;
  readonly now?: () => Date;
}

export interface Attempt {
  /** The subscription's id: connections are shared within it only. */
  readonly poolKey: string;
  readonly url: string;
  /** The event's id, the same in every attempt. */
  readonly webhookId: string;
  /** The exact bytes to send and sign. */
  readonly body: Uint8Array;
  /** `whsec_…`, the current one first; two during a rotation. */
  readonly secrets: readonly string[];
}

interface Timing {
  readonly startedAt: Date;
  readonly latencyMs: number;
}

/** The receiver responded, with whatever status. */
export interface AnsweredAttempt extends Timing {
  readonly httpStatus: number;
  readonly failureKind?: undefined;
  /** At most 4 KiB of printable UTF-8; empty for an empty body. */
  readonly responseExcerpt: string;
  /** The Retry-After of a 429 or 503: 0 to 24 hours. */
  readonly retryAfterMs?: number;
}

/** There was no complete response. */
export interface FailedAttempt extends Timing {
  readonly httpStatus?: undefined;
  readonly failureKind: AttemptFailureKind;
  readonly responseExcerpt?: undefined;
  readonly retryAfterMs?: undefined;
}

export type AttemptRecord = AnsweredAttempt | FailedAttempt;

const DEFAULT_USER_AGENT = 'Merchant-Payments-Webhooks/1.0';

class AttemptStopped extends Error {
  readonly kind: AttemptFailureKind;

  constructor(kind: AttemptFailureKind) {
    super(`stopped: ${kind}`);
    this.kind = kind;
  }
}

const TIMED_OUT = new AttemptStopped('TIMEOUT');
const ABORTED = new AttemptStopped('ABORTED');

/** True only for 2xx: a redirect is not followed, and fails. */
export function isDelivered({ httpStatus }: AttemptRecord): boolean {
  return httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300;
}

/**
 * Sends one webhook and waits for the response. The egress guard checks the URL again, and each address when it connects.
 * @param signal ends the attempt early, recorded as ABORTED.
 * @returns a record in every case that the receiver or the network can cause.
 * @throws TypeError for a malformed secret, and undici's InvalidArgumentError for an id that is no header value.
 */
export async function sendAttempt(
  deps: SendAttemptDeps,
  attempt: Attempt,
  signal?: AbortSignal,
): Promise<AttemptRecord> {
  const startedAt = deps.now?.() ?? new Date();
  const startedMs = performance.now();
  const timing = () => ({ startedAt, latencyMs: Math.round(performance.now() - startedMs) });
  if (signal?.aborted) return { ...timing(), failureKind: 'ABORTED' };
  const exchange = new Exchange();
  const deadline = setTimeout(() => exchange.stop(TIMED_OUT), deps.totalTimeoutMs ?? ATTEMPT_TIMEOUT_MS);
  const onAbort = () => exchange.stop(ABORTED);
  signal?.addEventListener('abort', onAbort);
  try {
    dispatch(exchange, deps, attempt, startedAt);
    const answer = await recordOf(exchange);
    return { ...timing(), ...answer };
  } catch (error) {
    return { ...timing(), failureKind: failureKindOf(error) };
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', onAbort);
  }
}

function dispatch(exchange: Exchange, deps: SendAttemptDeps, attempt: Attempt, startedAt: Date): void {
  const verdict = deps.guard.judgeUrl(attempt.url);
  if (!verdict.ok) throw new EgressError('EGRESS_DENIED', verdict.detail);
  const { pathname, search } = new URL(verdict.url.href);
  const request = {
    method: 'POST',
    path: pathname + search,
    headers: headersOf(attempt, startedAt, deps.userAgent ?? DEFAULT_USER_AGENT),
    body: attempt.body,
  };
  deps.guard.dispatcherFor(attempt.poolKey, verdict.url).dispatch(request, exchange);
}

async function recordOf(exchange: Exchange) {
  const answer = await exchange.answer;
  const { httpStatus, responseExcerpt } = answer;
  const retryAfterMs = retryAfterOf(answer);
  return { httpStatus, responseExcerpt, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function headersOf({ webhookId, body, secrets }: Attempt, startedAt: Date, userAgent: string) {
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-id': webhookId,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signWebhook({ id: webhookId, timestamp, body }, secrets),
  };
}

function retryAfterOf({ httpStatus, retryAfter }: Answer): number | undefined {
  if (httpStatus !== 429 && httpStatus !== 503) return undefined;
  return parseRetryAfter(retryAfter, Date.now());
}

/** Rethrows what no receiver can cause: a bug on our side is not a failed attempt. */
function failureKindOf(error: unknown): AttemptFailureKind {
  if (error instanceof AttemptStopped) return error.kind;
  if (error instanceof EgressError) return error.kind;
  if (isNotHttp(error)) return 'PROTOCOL';
  const code = codeOf(error);
  if (code === undefined || code === 'UND_ERR_INVALID_ARG') throw error;
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return 'ABORTED';
  // undici's code for a peer that closed the connection before its response was complete.
  if (code === 'UND_ERR_SOCKET') return 'CONNECTION_RESET';
  if (code.startsWith('ERR_SSL_')) return 'TLS';
  if (code.startsWith('UND_ERR_')) return 'PROTOCOL';
  return 'CONNECTION_RESET';
}
