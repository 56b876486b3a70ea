import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import type { ApiCaller, ApiKeyAuthenticator } from '../api-key-authenticator.ts';
import { countedAddress } from '../client-address.ts';
import { Problem } from '../problem.ts';
import type { RateLimit } from '../rate-limit.ts';
import { isUnauthenticated, missingApiKey } from '../rpc-problems.ts';

type OnRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
) => Promise<void> | undefined;

/** Makes the hooks that let a request in. */
export interface Access {
  /** For an operation that takes a key with a scope: limit by address, key, environment, scope, limit by key. */
  withScope(operation: string, scope: ApiKeyScopeName): OnRequest;
  /** For what anybody may read: limit by address. */
  open(operation: string): OnRequest;
}

interface AccessOptions {
  readonly authenticator: ApiKeyAuthenticator;
  readonly keyLimit: RateLimit;
  readonly addressLimit: RateLimit;
}

const BEARER = /^Bearer +([^\s]+) *$/i;

/**
 * Hooks in the order in which the API checks. A key that was found good a moment ago is let in without asking and
 * without a promise. Only what fails to authenticate counts against an address: whoever shares it with a guesser
 * keeps the whole quota of a key that is known here.
 */
export function createAccess({ authenticator, keyLimit, addressLimit }: AccessOptions): Access {
  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: ApiCaller,
    scope: ApiKeyScopeName,
  ): void {
    if (!caller.scopes.includes(API_KEY_SCOPES[scope])) {
      throw new Problem('INSUFFICIENT_SCOPE', `This operation takes an API key with the scope ${scope}.`);
    }
    const left = keyLimit.take(caller.apiKeyId);
    if (left < 0) throw tooMany(keyLimit, 'with this key');
    reply.headers(keyLimit.headers(left));
    request.caller = caller;
  }

  async function askAndAdmit(
    request: FastifyRequest,
    reply: FastifyReply,
    scope: ApiKeyScopeName,
  ): Promise<void> {
    const key = bearerToken(request.headers.authorization);
    const address = countedAddress(request.ip);
    const trusted = key !== undefined && authenticator.wasGood(key);
    if (!trusted && addressLimit.left(address) <= 0) throw tooMany(addressLimit, 'without a valid key');
    try {
      if (key === undefined) throw missingApiKey();
      admit(request, reply, await authenticator.authenticate(key, request.id), scope);
    } catch (error) {
      if (isUnauthenticated(error)) reply.headers(addressLimit.headers(addressLimit.take(address)));
      throw error;
    }
  }

  return {
    withScope: (operation, scope) => (request, reply, done) => {
      request.operation = operation;
      const key = bearerToken(request.headers.authorization);
      const caller = key === undefined ? undefined : authenticator.fresh(key);
      if (caller === undefined) return askAndAdmit(request, reply, scope);
      admit(request, reply, caller, scope);
      done();
    },
    open: (operation) => (request, reply, done) => {
      request.operation = operation;
      const left = addressLimit.take(countedAddress(request.ip));
      if (left < 0) throw tooMany(addressLimit, 'from this address');
      reply.headers(addressLimit.headers(left));
      done();
    },
  };
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

function tooMany(limit: RateLimit, whose: string): Problem {
  return new Problem(
    'RATE_LIMITED',
    `More than ${limit.perSecond} requests in a second ${whose}; wait a second.`,
    limit.refusalHeaders(),
  );
}
