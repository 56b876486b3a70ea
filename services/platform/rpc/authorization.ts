import type { Message } from '@bufbuild/protobuf';
import type { Interceptor, StreamRequest } from '@connectrpc/connect';
import { permissionDenied } from '../errors.ts';
import type { PersonCheck } from '../people/person-check.ts';
import { type Caller, callerOf, sessionOf, storeActor } from './call-context.ts';
import { onTheWire } from './connect-errors.ts';
import { grantMissing, isRead, missingForStream, missingGrant } from './grants.ts';
import { personRule } from './person-rules.ts';

const NO_GRANTS: ReadonlySet<string> = new Set();

/**
 * Checks the grants of the caller. A call with a session requires the grant on-behalf-of instead of the RPC's own: what it
 * may do depends on the person. Other reads need the caller's own grant, with or without a session.
 */
export const authorize: Interceptor = (next) => (request) => {
  const { method, contextValues } = request;
  const grants = callerOf(contextValues)?.grants ?? NO_GRANTS;
  const hasSession = sessionOf(contextValues) !== undefined;
  const isPersonCall = hasSession && personRule(method) !== undefined;
  if (hasSession) {
    rejectMissingGrant(grants.has('on-behalf-of') ? undefined : 'on-behalf-of');
    if (!isPersonCall && !isRead(method)) throw serviceCallOnly();
  }
  const grantsToCheck = isPersonCall ? undefined : grants;
  if (request.stream) return authorizeStream(next, request, grantsToCheck);
  if (grantsToCheck) rejectMissingGrant(missingGrant(method, request.message, grantsToCheck));
  return next(request);
};

function rejectMissingGrant(missing: string | undefined): void {
  if (missing !== undefined) throw grantMissing(missing);
}

/**
 * Once the token or certificate of its caller is no longer valid, a stream ends instead of sending its next message.
 * A client stream is refused if its caller is no longer valid when the last message arrives. Its only answer says
 * what has been written, so it is always sent.
 * @param grants the caller's grants; undefined for a person, who needs none.
 */
async function authorizeStream(
  next: Parameters<Interceptor>[0],
  request: StreamRequest,
  grants: ReadonlySet<string> | undefined,
) {
  if (grants) rejectMissingGrant(missingForStream(request.method, grants));
  const caller = callerOf(request.contextValues);
  const messages = grants ? authorized(request, grants) : request.message;
  if (request.method.methodKind === 'client_streaming') {
    return next({ ...request, message: untilInvalid(messages, caller) });
  }
  const response = await next({ ...request, message: messages });
  return response.stream ? { ...response, message: whileValid(response.message, caller) } : response;
}

/** The first message of a stream says which merchant and environment it concerns. */
async function* authorized({ method, message: messages }: StreamRequest, grants: ReadonlySet<string>) {
  let isFirst = true;
  for await (const message of messages) {
    if (isFirst) rejectMissingGrant(missingGrant(method, message, grants));
    isFirst = false;
    yield message;
  }
}

async function* whileValid<T>(messages: AsyncIterable<T>, caller: Caller | undefined) {
  for await (const message of messages) {
    await requireValid(caller);
    yield message;
  }
}

async function* untilInvalid<T>(messages: AsyncIterable<T>, caller: Caller | undefined) {
  yield* messages;
  await requireValid(caller);
}

async function requireValid(caller: Caller | undefined): Promise<void> {
  try {
    await caller?.requireValid?.();
  } catch (error) {
    throw onTheWire(error);
  }
}

const serviceCallOnly = () => permissionDenied('SERVICE_CALL_ONLY', 'only services may make this call');

/**
 * Verifies the session of a call that people may make, and their role.
 * @param people without it, only services may make calls.
 */
export const checkPerson =
  (people: PersonCheck | undefined): Interceptor =>
  (next) =>
  (request) => {
    const { method, contextValues } = request;
    const session = sessionOf(contextValues);
    if (!session || !personRule(method)) return next(request);
    if (!people) throw serviceCallOnly();
    const check = async () => {
      const message: Message | undefined = request.stream ? undefined : request.message;
      storeActor(contextValues, await people.verify(method, session, message));
      return next(request);
    };
    return check();
  };
