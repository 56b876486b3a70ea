import type { DescMessage, DescMethod, Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { isDatabaseFailing, isDatabaseUnavailable } from '../database/database-errors.ts';
import { DomainError, databaseUnavailable } from '../errors.ts';
import type { PersonCheck } from '../people/person-check.ts';
import { rpcDuration, rpcFailures } from '../process/telemetry.ts';
import { invalidFields } from '../request-faults.ts';
import { tracedCalls } from '../tracing/trace-calls.ts';
import { authorize, checkPerson } from './authorization.ts';
import { requestIdOf } from './call-context.ts';
import { callError, internalError, toConnectError } from './connect-errors.ts';
import { messageFaults } from './message-faults.ts';

/**
 * The interceptors of every RPC, on the port and in process, outermost first. The caller has been identified before: from
 * the service token on the port, or fixed when an in-process transport is created.
 * @param people verifies sessions; without it, only services may make calls.
 */
export function rpcInterceptors(logger: Logger, people?: PersonCheck): Interceptor[] {
  return [...tracedCalls(), observe(logger), authorize, checkPerson(people), validate];
}

/** Maps domain errors to the wire, logs and masks all others, and times every call that is not a stream. */
function observe(logger: Logger): Interceptor {
  return (next) => async (request) => {
    const startedAt = performance.now();
    try {
      const response = await next(request);
      // A stream lasts as long as its caller listens, so its duration means nothing.
      if (response.stream) return { ...response, message: observed(response.message, request, logger) };
      durationOf(request.method).observe((performance.now() - startedAt) / 1_000);
      return response;
    } catch (error) {
      const mapped = reportError(error, request, logger);
      const labels = { ...labelsOf(request.method), code: Code[mapped.code] };
      rpcDuration.observe(labels, (performance.now() - startedAt) / 1_000);
      throw mapped;
    }
  };
}

type Request = Parameters<ReturnType<Interceptor>>[0];

async function* observed<T>(messages: AsyncIterable<T>, request: Request, logger: Logger): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw reportError(error, request, logger);
  }
}

/** The error as callers see it. Logs errors that callers did not cause. */
function reportError(error: unknown, request: Request, logger: Logger): ConnectError {
  const { method, contextValues } = request;
  const requestId = requestIdOf({ values: contextValues });
  const mapped = mapError(error, requestId);
  // A call that fails because of another is not counted again.
  if (mapped.code === Code.Internal && !(error instanceof ConnectError)) rpcFailures.inc();
  if (mapped.code === Code.Internal || mapped.code === Code.Unavailable) {
    const call = { requestId, rpc: `${method.parent.typeName}/${method.name}`, ...merchantOf(request) };
    // While the database or another area fails every call fails, and stack traces add nothing.
    if (isDatabaseFailing(error) || isUnavailable(error))
      logger.warn({ reason: String(error), ...call }, 'RPC unavailable');
    else logger.error({ err: error, ...call }, 'RPC failed');
  }
  return mapped;
}

/** Whether the service refuses the call for a while, or a call to another area was answered with UNAVAILABLE. */
const isUnavailable = (error: unknown) =>
  error instanceof ConnectError
    ? error.code === Code.Unavailable
    : error instanceof DomainError && error.kind === 'UNAVAILABLE';

/** The merchant named in a call; a stream names it in its messages instead. */
function merchantOf({ stream, message }: Request): { merchantId?: string; environment?: string } {
  if (stream || !('merchantId' in message) || typeof message.merchantId !== 'string') return {};
  const environment = 'environment' in message && Environment[message.environment as Environment];
  return { merchantId: message.merchantId, ...(environment && { environment: environment.toLowerCase() }) };
}

const labelsOf = (method: DescMethod) => ({ service: method.parent.typeName, method: method.name });

const durations = new Map<DescMethod, ReturnType<typeof rpcDuration.labels>>();

/** The histogram child for a method's successful calls, cached because looking it up by labels is slower. */
function durationOf(method: DescMethod) {
  let histogram = durations.get(method);
  if (!histogram) {
    histogram = rpcDuration.labels({ ...labelsOf(method), code: 'ok' });
    durations.set(method, histogram);
  }
  return histogram;
}

function mapError(error: unknown, requestId: string): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DomainError) return toConnectError(error);
  if (hasDisconnected(error)) return callError(Code.Canceled, 'CALL_CANCELED', 'the caller has disconnected');
  if (isDatabaseUnavailable(error)) return toConnectError(databaseUnavailable());
  return internalError(undefined, requestId);
}

/** Whether the caller has disconnected in the middle of the messages that it streams. */
const hasDisconnected = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';

const validate: Interceptor = (next) => (request) => {
  const { input } = request.method;
  if (request.stream) return next({ ...request, message: validated(input, request.message) });
  requireValid(input, request.message);
  return next(request);
};

async function* validated<T extends Message>(
  type: DescMessage,
  messages: AsyncIterable<T>,
): AsyncGenerator<T> {
  for await (const message of messages) {
    requireValid(type, message);
    yield message;
  }
}

function requireValid(type: DescMessage, message: Message): void {
  const [first, ...others] = messageFaults(type, message);
  if (first) throw invalidFields([first, ...others]);
}
