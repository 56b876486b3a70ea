import { randomInt } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { PING_TYPE } from '../../services/contracts/webhooks/ping-type.ts';
import { errorInfoOf, fieldViolationsOf } from '../../services/platform/rpc/connect-errors.ts';
import { apiKeyEnvironmentMismatch, apiKeyProblem } from './access-problems.ts';
import { MAX_POINTER_SHOWN, Problem, staticProblem } from './problem.ts';

/** Most outages are a restart or a failover, over within seconds. */
const MAX_RETRY_AFTER_S = 5;

type Metadata = Readonly<Record<string, string>>;
type ToProblem = (message: string, metadata: Metadata) => Problem;

/** RPC errors that merchants can act on, by ErrorInfo reason. All others are internal errors. */
const BY_REASON: Readonly<Record<string, ToProblem>> = {
  INVALID_PAGE_TOKEN: () => staticProblem('INVALID_CURSOR'),
  INVALID_WEBHOOK_URL: (message) =>
    new Problem('INVALID_WEBHOOK_URL', fault('/url', message.replace(/^url: /, ''))),
  INVALID_EVENT_TYPE: (_, { field = '', event_type: name = '' }) => invalidEventType(pointerTo(field), name),
  PRODUCT_NOT_FOUND: () => staticProblem('PRODUCT_NOT_FOUND'),
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: () => staticProblem('WEBHOOK_SUBSCRIPTION_NOT_FOUND'),
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: () => staticProblem('WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS'),
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: (_, { limit = '' }) =>
    new Problem(
      'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
      `A merchant may have ${limit} webhook subscriptions per environment that are not disabled; disable one first.`,
    ),
  LISTENER_LIMIT_REACHED: (_, { limit = '' }) =>
    new Problem(
      'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
      `A merchant may have ${limit} listeners open; close one first.`,
    ),
  EVENT_NOT_FOUND: () => new Problem('INVALID_REQUEST', '/eventId is not the id of an event of the sandbox.'),
  IDEMPOTENCY_KEY_IN_USE: () => staticProblem('IDEMPOTENCY_KEY_IN_USE'),
  IDEMPOTENCY_KEY_REUSED: () => staticProblem('IDEMPOTENCY_KEY_REUSED'),
  API_KEY_INVALID: () => apiKeyProblem('API_KEY_INVALID'),
  API_KEY_EXPIRED: () => apiKeyProblem('API_KEY_EXPIRED'),
  API_KEY_ENVIRONMENT_MISMATCH: (_, { environment }) =>
    apiKeyEnvironmentMismatch(environment === 'live' ? 'live' : 'test'),
};

/**
 * Maps a failed RPC to the public API. Anything but a documented error or an unavailable service becomes INTERNAL_ERROR,
 * which does not reveal its cause.
 */
export function problemOfRpc(error: unknown): Problem {
  if (!(error instanceof ConnectError)) return internalError(error);
  const info = errorInfoOf(error);
  if (info?.reason === 'INVALID_ARGUMENT') return invalidRequest(error);
  const toProblem = info && BY_REASON[info.reason];
  if (toProblem) return toProblem(error.rawMessage, info.metadata);
  switch (error.code) {
    case Code.Unavailable:
    case Code.ResourceExhausted:
    // Without a documented reason, this means that the connection to the service broke.
    case Code.Aborted:
      return serviceUnavailable(error);
    case Code.DeadlineExceeded:
      return staticProblem('DEADLINE_EXCEEDED', {}, error);
    default:
      return internalError(error);
  }
}

/** Names every member of the request that a service has refused. */
function invalidRequest(error: ConnectError): Problem {
  const faults = fieldViolationsOf(error).map(({ field, description }) =>
    fault(field === '' ? 'The request' : pointerTo(field), description),
  );
  return new Problem('INVALID_REQUEST', faults.join(' ') || fault('The request', error.rawMessage));
}

/** A sentence about a member of the request, made from the service's description of the fault. */
function fault(subject: string, description: string): string {
  return `${subject}${description.startsWith('must ') ? '' : ':'} ${sentence(description)}`;
}

/** A name, at this JSON pointer, that is not an event type to subscribe to or to publish. */
export function invalidEventType(pointer: string, name: string): Problem {
  if (name === PING_TYPE && pointer.startsWith('/eventTypes')) {
    return new Problem(
      'INVALID_EVENT_TYPE',
      `${pointer}: "${PING_TYPE}" cannot be subscribed to: every endpoint receives it.`,
    );
  }
  const shown = name.length > MAX_POINTER_SHOWN ? `${name.slice(0, MAX_POINTER_SHOWN)}…` : name;
  return new Problem(
    'INVALID_EVENT_TYPE',
    `${pointer}: ${JSON.stringify(shown)} is not an event type; /docs lists them under Events.`,
  );
}

/** A service is down or overloaded. `Retry-After` is random, so that clients do not all retry at the same moment. */
export function serviceUnavailable(cause?: unknown): Problem {
  const retryAfter = String(randomInt(1, MAX_RETRY_AFTER_S + 1));
  return staticProblem('SERVICE_UNAVAILABLE', { 'retry-after': retryAfter }, cause);
}

/** An unexpected failure in this system. */
export function internalError(cause: unknown): Problem {
  return staticProblem('INTERNAL_ERROR', {}, cause);
}

/** Translates a proto field path to the JSON pointer of the request body: `event_types[1]` to `/eventTypes/1`. */
function pointerTo(field: string): string {
  const path = field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `/${path.replaceAll(/\[(\d+)\]/g, '/$1').replaceAll('.', '/')}`;
}

function sentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}
