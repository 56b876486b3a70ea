import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { validate as isUuid } from 'uuid';
import { isConnectionLost, isDatabaseUnavailable } from '../database/database-errors.ts';
import { DomainError, invalidArgument, permissionDenied, unavailable } from '../errors.ts';
import { rpcDuration } from '../process/telemetry.ts';
import { ACTOR_HEADERS, actorOf, callerOf, requestIdOf } from './call-context.ts';
import { toConnectError } from './connect-errors.ts';
import { requiredGrant } from './grants.ts';
import { messageFault } from './message-fault.ts';

/**
 * The interceptors of every RPC, on the port and in process, outermost first. The caller has been identified before: from
 * the service token on the port, or fixed when an in-process transport is created.
 */
export function rpcInterceptors(logger: Logger): Interceptor[] {
  return [observe(logger), authorize, validate];
}

/** Maps domain errors to the wire, logs and masks all others, and times every call. */
function observe(logger: Logger): Interceptor {
  return (next) => async (request) => {
    const startedAt = performance.now();
    try {
      const response = await next(request);
      durationOf(request.method).observe((performance.now() - startedAt) / 1_000);
      return response;
    } catch (error) {
      const mapped = mapError(error);
      const labels = { ...labelsOf(request.method), code: Code[mapped.code] };
      rpcDuration.observe(labels, (performance.now() - startedAt) / 1_000);
      if (mapped.code === Code.Internal || mapped.code === Code.Unavailable) {
        const requestId = requestIdOf({ values: request.contextValues });
        const call = { requestId, rpc: `${labels.service}/${labels.method}` };
        // While the database is unavailable every call fails, and stack traces add nothing.
        if (isConnectionLost(error)) logger.warn({ reason: String(error), ...call }, 'RPC unavailable');
        else logger.error({ err: error, ...call }, 'RPC failed');
      }
      throw mapped;
    }
  };
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

function mapError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DomainError) return toConnectError(error);
  if (isDatabaseUnavailable(error)) {
    return toConnectError(unavailable('DATABASE_UNAVAILABLE', 'the database cannot be reached; try again'));
  }
  return new ConnectError('internal error', Code.Internal);
}

const authorize: Interceptor = (next) => (request) => {
  const { method, contextValues } = request;
  const grants = callerOf(contextValues)?.grants;
  const requireGrant = (grant: string | undefined) => {
    if (grant === undefined || grants?.has(grant)) return;
    throw toConnectError(
      permissionDenied('GRANT_MISSING', `this call requires the grant ${grant}`, { grant }),
    );
  };
  requireGrant(requiredGrant(method));
  const actor = actorOf({ values: contextValues });
  if (actor) {
    requireGrant('on-behalf-of');
    if (!isUuid(actor.accountId)) throw toConnectError(invalidActor());
  }
  return next(request);
};

const invalidActor = () =>
  invalidArgument('INVALID_ACTOR', `${ACTOR_HEADERS.accountId}: must be the UUID of an account`);

const validate: Interceptor = (next) => (request) => {
  if (request.stream) return next(request);
  const fault = messageFault(request.method.input, request.message);
  if (!fault) return next(request);
  const { field, must } = fault;
  throw toConnectError(invalidArgument('INVALID_ARGUMENT', `${field}: ${must}`, { field }));
};
