import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { codeOf, EgressError, isNotHttp } from '../../platform/egress/egress-error.ts';
import type { EgressGuard } from '../../platform/egress/egress-guard.ts';
import type { AttemptFailureName, AttemptResult } from '../deliveries/delivery.ts';
import { ATTEMPT_TIMEOUT_MS } from './attempt-limits.ts';
import {
  type Exchange,
  type ExchangeStep,
  NO_FINAL_RESPONSE,
  parseRetryAfter,
  type ReceivedResponse,
} from './exchange.ts';

interface UnsignedWebhook {
  /** Sent as `webhook-id`, the same in every attempt. */
  readonly eventId: string;
  /** The exact bytes to send and sign. */
  readonly body: Uint8Array;
  /** One, or two during a rotation. */
  readonly keys: readonly KeyObject[];
  readonly startedAt: Date;
}

export interface Attempt extends UnsignedWebhook {
  /** Only attempts of one subscription share connections. */
  readonly subscriptionId: string;
  readonly url: string;
}

const TIMED_OUT = new Error('the deadline of the attempt has passed');
/** The reason to stop the exchange of an attempt with, if it is to be made again. */
export const ABORTED = new Error('the attempt was aborted');
/** The failure of an attempt that exceeds its deadline, by the step in progress. */
const TIMEOUTS: Readonly<Record<ExchangeStep, AttemptFailureName>> = {
  DNS: 'DNS_TIMEOUT',
  CONNECT: 'CONNECT_TIMEOUT',
  TLS: 'TLS_TIMEOUT',
  RESPONSE: 'TIMEOUT',
  BODY: 'BODY_TIMEOUT',
};

/**
 * Sends one webhook and waits for the response. The egress guard of its environment checks the URL again, and each address
 * when it connects. Failures: a timeout, by the step in progress at the deadline; PROTOCOL, if the response is not HTTP/1.1, is
 * shorter than it declares or consists of interim responses only; WORKER_LOST, if it is {@link ABORTED}; and those of the
 * guard.
 * @param exchange a new one, with which the caller may stop the attempt.
 * @param timeoutMs for connecting, sending and the whole response.
 * @returns a result, whatever the receiver or the network does.
 * @throws TypeError without a key, and undici's InvalidArgumentError for an id that is not a valid header value.
 */
export async function sendAttempt(
  guard: EgressGuard,
  attempt: Attempt,
  exchange: Exchange,
  timeoutMs: number = ATTEMPT_TIMEOUT_MS,
): Promise<AttemptResult> {
  const startedMs = performance.now();
  const signature = signatureOf(attempt);
  const facts = () => {
    const latencyMs = Math.round(performance.now() - startedMs);
    const endedAt = new Date(attempt.startedAt.getTime() + latencyMs);
    const responseHeaders = exchange.responseHeaders();
    return { endedAt, latencyMs, signature, timingMs: exchange.timingMs(), responseHeaders };
  };
  const deadline = setTimeout(() => exchange.stop(TIMED_OUT), timeoutMs);
  try {
    const check = guard.checkUrl(attempt.url);
    if (!check.ok) throw new EgressError('EGRESS_DENIED', `the url ${check.detail}`);
    const headers = webhookHeaders(attempt, signature);
    const request = { method: 'POST', path: check.url.path, headers, body: attempt.body };
    guard.dispatcherFor(attempt.subscriptionId, check.url).dispatch(request, exchange);
    const response = await exchange.response;
    const { httpStatus, responseExcerpt } = response;
    const detail = isRedirect(httpStatus) ? redirectLocation(response.location, attempt.url) : undefined;
    return { ...facts(), httpStatus, responseExcerpt, retryAfterMs: retryAfterOf(response), detail };
  } catch (error) {
    const failure = error === TIMED_OUT ? TIMEOUTS[exchange.step] : failureOf(error);
    return {
      ...facts(),
      failure,
      detail: error instanceof EgressError ? error.certificateNames : undefined,
    };
  } finally {
    clearTimeout(deadline);
  }
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

function retryAfterOf({ httpStatus, retryAfter }: ReceivedResponse): number | undefined {
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

const USER_AGENT = 'Merchant-Payments-Webhooks/1.0';

/** The `webhook-timestamp` of an attempt: Unix time in seconds. */
const timestampOf = (startedAt: Date) => Math.floor(startedAt.getTime() / 1000);

/** The `webhook-signature` of Standard Webhooks v1: one signature per key, so that a receiver may verify with either. */
function signatureOf({ eventId, startedAt, body, keys }: UnsignedWebhook): string {
  if (keys.length === 0) throw new TypeError('a webhook needs at least one signing key');
  const prefix = `${eventId}.${timestampOf(startedAt)}.`;
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`)
    .join(' ');
}

/** The headers of a webhook, without those of the connection, in the order in which they are sent. */
export const webhookHeaders = (
  { eventId, startedAt }: Pick<UnsignedWebhook, 'eventId' | 'startedAt'>,
  signature: string,
) => ({
  'content-type': 'application/json',
  'user-agent': USER_AGENT,
  'webhook-id': eventId,
  'webhook-timestamp': `${timestampOf(startedAt)}`,
  'webhook-signature': signature,
});

/** The headers of a webhook that is signed now. */
export const signedHeaders = (webhook: UnsignedWebhook) => webhookHeaders(webhook, signatureOf(webhook));

const SECRET_PREFIX = 'whsec_';

/**
 * The key of a signing secret: creating it costs four times as much as a signature.
 * @param secret `whsec_` and base64.
 * @throws TypeError for a malformed one; the message does not contain it.
 */
export function signingKey(secret: string): KeyObject {
  const bytes = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  if (secret.startsWith(SECRET_PREFIX) && bytes.length > 0) return createSecretKey(bytes);
  throw new TypeError(`a signing secret is ${SECRET_PREFIX} and base64`);
}
