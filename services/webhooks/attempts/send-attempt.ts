import { ATTEMPT_TIMEOUT_MS } from '../../contracts/webhooks/delivery-limits.ts';
import { codeOf, EgressError, isNotHttp } from '../../platform/egress/egress-error.ts';
import type { EgressGuard } from '../../platform/egress/egress-guard.ts';
import type { AttemptFailureName, AttemptResult } from '../deliveries/delivery.ts';
import { type Answer, Exchange, type ExchangeStep } from './exchange.ts';
import { redirectLocation } from './redirect-location.ts';
import { parseRetryAfter } from './retry-after.ts';
import { signatureOf, webhookHeaders } from './webhook-request.ts';

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
 * connects. Failures: a timeout, by the step in progress at the deadline; PROTOCOL, if the response is not HTTP/1.1
 * or is shorter than it declares; WORKER_LOST, if this side aborted it; and those of the guard.
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
  const verdict = guard.judgeUrl(attempt.url);
  if (!verdict.ok) throw new EgressError('EGRESS_DENIED', verdict.detail);
  const { pathname, search } = new URL(verdict.url.href);
  const { body } = attempt;
  const headers = webhookHeaders({ ...attempt, signature });
  const request = { method: 'POST', path: pathname + search, headers, body };
  guard.dispatcherFor(attempt.subscriptionId, verdict.url).dispatch(request, exchange);
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
  if (isNotHttp(error)) return 'PROTOCOL';
  const code = codeOf(error);
  if (code === undefined || code === 'UND_ERR_INVALID_ARG') throw error;
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return 'WORKER_LOST';
  // undici's code for a peer that closed the connection before its response was complete.
  if (code === 'UND_ERR_SOCKET') return 'CONNECTION_RESET';
  if (code.startsWith('ERR_SSL_')) return 'TLS';
  if (code.startsWith('UND_ERR_')) return 'PROTOCOL';
  return 'CONNECTION_RESET';
}
