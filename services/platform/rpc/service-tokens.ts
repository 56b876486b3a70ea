import { createHash } from 'node:crypto';
import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { unauthenticated } from '../errors.ts';
import type { ServiceToken } from '../process/setting-parsers.ts';
import { type Caller, identifyActor, identifyCall, REQUEST_ID_HEADER } from './call-context.ts';
import { toConnectError } from './connect-errors.ts';
import { requiredGrant } from './grants.ts';

const ANONYMOUS: Caller = { name: 'anonymous', grants: new Set() };
const REQUEST_ID = /^[\x21-\x7e]{1,100}$/;

/**
 * Identifies the caller by the hash of its bearer token, before the request body is read. Health and reflection need no
 * token. UNAUTHENTICATED (SERVICE_TOKEN_MISSING, SERVICE_TOKEN_INVALID).
 */
export function serviceTokenGate(tokens: readonly ServiceToken[]): (context: HandlerContext) => void {
  const callers = new Map(
    tokens.map(({ name, tokenSha256, grants }): [string, Caller] => [
      tokenSha256,
      { name, grants: new Set(grants) },
    ]),
  );
  return (context) => {
    const requestId = context.requestHeader.get(REQUEST_ID_HEADER) ?? '';
    identifyCall(
      context.values,
      callerFor(context, callers),
      REQUEST_ID.test(requestId) ? requestId : uuidv7(),
    );
    identifyActor(context.values, (name) => context.requestHeader.get(name));
  };
}

function callerFor(context: HandlerContext, callers: ReadonlyMap<string, Caller>): Caller {
  if (requiredGrant(context.method) === undefined) return ANONYMOUS;
  const [scheme, token] = (context.requestHeader.get('authorization') ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || !token) {
    throw toConnectError(
      unauthenticated('SERVICE_TOKEN_MISSING', 'this port requires a bearer service token'),
    );
  }
  const caller = callers.get(createHash('sha256').update(token).digest('hex'));
  if (!caller) throw toConnectError(unauthenticated('SERVICE_TOKEN_INVALID', 'unknown service token'));
  return caller;
}
