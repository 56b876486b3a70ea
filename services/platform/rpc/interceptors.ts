import type { DescMessage, DescMethod, Message } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator } from '@bufbuild/protovalidate';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { validate as isUuid } from 'uuid';
import { isConnectionLost, isDatabaseAway } from '../database/database-errors.ts';
import { DomainError, invalidArgument, permissionDenied, unavailable } from '../errors.ts';
import { rpcDuration } from '../process/telemetry.ts';
import { ACTOR_HEADERS, actorOf, callerOf, requestIdOf } from './call-context.ts';
import { toConnectError } from './connect-errors.ts';
import { requiredGrant } from './grants.ts';
import { unstorableValue } from './storable-values.ts';

/**
 * What every RPC goes through, on the port and inside a process alike: outermost first. Who calls has been
 * identified before (from the token on the port, fixed where a transport inside a process is composed).
 */
export function rpcInterceptors(logger: Logger): Interceptor[] {
  return [observe(logger), authorize, validate];
}

/** Maps refusals to the wire in one place; what is not a refusal is logged and masked. Times every call. */
function observe(logger: Logger): Interceptor {
  return (next) => async (request) => {
    const startedAt = performance.now();
    try {
      const response = await next(request);
      answeredIn(request.method).observe((performance.now() - startedAt) / 1_000);
      return response;
    } catch (error) {
      const mapped = mapError(error);
      const labels = { ...labelsOf(request.method), code: Code[mapped.code] };
      rpcDuration.observe(labels, (performance.now() - startedAt) / 1_000);
      if (mapped.code === Code.Internal || mapped.code === Code.Unavailable) {
        const requestId = requestIdOf({ values: request.contextValues });
        const call = { requestId, rpc: `${labels.service}/${labels.method}` };
        // Every call that is under way says so while the database is away: where in the code, is of no use then.
        if (isConnectionLost(error)) logger.warn({ reason: String(error), ...call }, 'RPC unavailable');
        else logger.error({ err: error, ...call }, 'RPC failed');
      }
      throw mapped;
    }
  };
}

const labelsOf = (method: DescMethod) => ({ service: method.parent.typeName, method: method.name });

const answered = new Map<DescMethod, ReturnType<typeof rpcDuration.labels>>();

/** Where the time of a method's good answers is counted; finding it by its labels each time would cost more. */
function answeredIn(method: DescMethod) {
  let histogram = answered.get(method);
  if (!histogram) {
    histogram = rpcDuration.labels({ ...labelsOf(method), code: 'ok' });
    answered.set(method, histogram);
  }
  return histogram;
}

function mapError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DomainError) return toConnectError(error);
  if (isDatabaseAway(error)) {
    return toConnectError(unavailable('DATABASE_UNAVAILABLE', 'the database cannot be reached; try again'));
  }
  return new ConnectError('internal error', Code.Internal);
}

const authorize: Interceptor = (next) => (request) => {
  const { method, contextValues } = request;
  const grants = callerOf(contextValues)?.grants;
  const demand = (grant: string | undefined) => {
    if (grant === undefined || grants?.has(grant)) return;
    throw toConnectError(permissionDenied('GRANT_MISSING', `this call takes the grant ${grant}`, { grant }));
  };
  demand(requiredGrant(method));
  const actor = actorOf({ values: contextValues });
  if (actor) {
    demand('on-behalf-of');
    if (!isUuid(actor.accountId)) throw toConnectError(invalidActor());
  }
  return next(request);
};

const invalidActor = () =>
  invalidArgument('INVALID_ACTOR', `${ACTOR_HEADERS.accountId}: must be the UUID of an account`);

const validator = createValidator();

const validate: Interceptor = (next) => (request) => {
  if (request.stream) return next(request);
  const invalid = violationOf(request.method, request.message);
  if (invalid) throw toConnectError(invalid);
  return next(request);
};

function violationOf(method: DescMethod, message: Message): DomainError | undefined {
  const fault = unstorableValue(method.input, message);
  if (fault) return invalidField(fault.field, fault.must);
  const result = validator.validate(method.input as DescMessage, message);
  if (result.kind === 'valid') return undefined;
  if (result.kind === 'error') throw result.error;
  const [violation] = result.violations;
  return invalidField(violation ? pathToString(violation.field) : '', violation?.message ?? 'is not valid');
}

const invalidField = (field: string, must: string) =>
  invalidArgument('INVALID_ARGUMENT', `${field}: ${must}`, { field });
