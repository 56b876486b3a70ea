import { Code, ConnectError } from '@connectrpc/connect';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { expiredApiKey, invalidApiKey, keyOfOtherEnvironment } from './access-problems.ts';
import { MAX_POINTER_SHOWN, Problem, plainProblem } from './problem.ts';

type Metadata = Readonly<Record<string, string>>;
type Reading = (message: string, metadata: Metadata) => Problem;

/** Refusals that a merchant can act on, by the reason of the RPC. Every other one is an error of our own. */
const BY_REASON: Readonly<Record<string, Reading>> = {
  INVALID_ARGUMENT: (message, { field = '' }) =>
    new Problem(
      'INVALID_REQUEST',
      `${field === '' ? 'The request' : pointerTo(field)}: ${sentence(message.replace(`${field}: `, ''))}`,
    ),
  INVALID_PAGE_TOKEN: () => plainProblem('INVALID_CURSOR'),
  INVALID_WEBHOOK_URL: (message) =>
    new Problem('INVALID_WEBHOOK_URL', `/url: ${sentence(message.replace(/^url: /, ''))}`),
  INVALID_EVENT_TYPE: (_, { field = '', event_type: name = '' }) => invalidEventType(pointerTo(field), name),
  PRODUCT_NOT_FOUND: () => plainProblem('PRODUCT_NOT_FOUND'),
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: () => plainProblem('WEBHOOK_SUBSCRIPTION_NOT_FOUND'),
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: () => plainProblem('WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS'),
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: (_, { limit = '' }) =>
    new Problem(
      'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
      `A merchant may have ${limit} webhook subscriptions that are not disabled; disable one first.`,
    ),
  IDEMPOTENCY_KEY_IN_USE: () => plainProblem('IDEMPOTENCY_KEY_IN_USE'),
  IDEMPOTENCY_KEY_REUSED: () => plainProblem('IDEMPOTENCY_KEY_REUSED'),
  API_KEY_INVALID: invalidApiKey,
  API_KEY_EXPIRED: expiredApiKey,
  API_KEY_ENVIRONMENT_MISMATCH: (_, { environment }) =>
    keyOfOtherEnvironment(environment === 'live' ? 'live' : 'test'),
};

/**
 * The one mapping of a failed RPC to the public API. What is neither a refusal that merchants know nor the absence
 * of a service is INTERNAL_ERROR and says nothing of its cause.
 */
export function problemOfRpc(error: unknown): Problem {
  if (!(error instanceof ConnectError)) return internalError(error);
  const info = errorInfoOf(error);
  const reading = info && BY_REASON[info.reason];
  if (reading) return reading(error.rawMessage, info.metadata);
  switch (error.code) {
    case Code.Unavailable:
    case Code.ResourceExhausted:
    // Without a reason that merchants know: the connection to the service broke.
    case Code.Aborted:
      return plainProblem('SERVICE_UNAVAILABLE', {}, error);
    case Code.DeadlineExceeded:
      return plainProblem('DEADLINE_EXCEEDED', {}, error);
    default:
      return internalError(error);
  }
}

/** The refusal of a name, at this JSON pointer, that is no event type. */
export function invalidEventType(pointer: string, name: string): Problem {
  const shown = name.length > MAX_POINTER_SHOWN ? `${name.slice(0, MAX_POINTER_SHOWN)}…` : name;
  return new Problem(
    'INVALID_EVENT_TYPE',
    `${pointer}: ${JSON.stringify(shown)} is not an event type of the catalogue; /docs lists them under Events.`,
  );
}

/** A failure of our own. */
export function internalError(cause: unknown): Problem {
  return plainProblem('INTERNAL_ERROR', {}, cause);
}

/** The JSON pointer of a field of an RPC, `event_types[1]`, which the API's body names in its own spelling. */
function pointerTo(field: string): string {
  const path = field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `/${path.replaceAll(/\[(\d+)\]/g, '/$1').replaceAll('.', '/')}`;
}

function sentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}
