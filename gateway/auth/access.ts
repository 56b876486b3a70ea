import type { FastifyReply, FastifyRequest } from 'fastify';
import { environmentOfApiKey } from '../../services/platform/api-key-format.ts';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import { apiKeyProblem, isUnauthenticated, missingScope } from '../problems/access-problems.ts';
import { Problem } from '../problems/problem.ts';
import { rateLimitAddress } from '../rate-limits/client-address.ts';
import type { Quota } from '../rate-limits/rate-limit.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { ApiCaller, ApiKeyAuthenticator } from './api-key-authenticator.ts';

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Creates the onRequest hooks that authenticate and rate-limit. */
export interface Access {
  /** For operations that require a scope: limit by address, API key, environment, scope, limit by key, in this order. */
  withScope(operation: string, scope: ApiKeyScopeName): OnRequest;
  /** For public routes: limit by address. */
  open(operation: string): OnRequest;
  /** Whether the key of a request still has a scope: a response that streams may outlive its key. */
  isStillAllowed(request: FastifyRequest, scope: ApiKeyScopeName): Promise<boolean>;
}

interface AccessOptions {
  readonly authenticator: ApiKeyAuthenticator;
  readonly limits: RateLimits;
}

const BEARER = /^Bearer +(\S+) *$/i;
const WITHOUT_VALID_KEY = 'without a valid key';

/**
 * Builds the hooks in the API's order of checks. A cached key is accepted without an RPC. Only failed authentications
 * count against an address, and only failed lookups of unknown keys stop further lookups from that address: a client
 * that shares an address with an attacker keeps the full quota of its valid key.
 */
export function createAccess({ authenticator, limits }: AccessOptions): Access {
  const lookups = new PendingLookups();

  /** Looks up an unknown key, unless its address has too many failed or pending lookups. */
  async function lookUp(key: string, address: string, requestId: string, reply: FastifyReply) {
    const lookup = lookups.start(address, key);
    try {
      enforce(reply, await limits.failedLookups.peek(address, lookup.before), WITHOUT_VALID_KEY);
      return await authenticator.authenticate(key, requestId);
    } catch (error) {
      if (isUnauthenticated(error)) await limits.failedLookups.consume(address);
      throw error;
    } finally {
      lookup.end();
    }
  }

  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller> {
    const key = bearerToken(request.headers.authorization);
    const caller = key === undefined ? undefined : authenticator.findCached(key);
    if (caller !== undefined) return caller;
    const address = rateLimitAddress(request.ip);
    try {
      if (key === undefined) throw apiKeyProblem('API_KEY_MISSING');
      const isUnknown = environmentOfApiKey(key) !== undefined && !authenticator.wasValid(key);
      if (isUnknown) return await lookUp(key, address, request.id, reply);
      return await authenticator.authenticate(key, request.id);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      enforce(reply, await limits.address.consume(address), WITHOUT_VALID_KEY);
      throw error;
    }
  }

  return {
    withScope: (operation, scope) => async (request, reply) => {
      request.operation = operation;
      const caller = await authenticate(request, reply);
      request.caller = caller;
      const quota = await limits.key.consume(caller.apiKeyId);
      if (!caller.scopes.includes(API_KEY_SCOPES[scope])) {
        reply.headers(quota.headers);
        throw missingScope(scope);
      }
      enforce(reply, quota, 'with this key');
    },
    open: (operation) => async (request, reply) => {
      request.operation = operation;
      enforce(reply, await limits.address.consume(rateLimitAddress(request.ip)), 'from this address');
    },
    isStillAllowed: async ({ headers, id }, scope) => {
      const key = bearerToken(headers.authorization) ?? '';
      try {
        const { scopes } = authenticator.findCached(key) ?? (await authenticator.authenticate(key, id));
        return scopes.includes(API_KEY_SCOPES[scope]);
      } catch (error) {
        if (isUnauthenticated(error)) return false;
        throw error;
      }
    },
  };
}

/** Lookups of unknown keys in progress, by client address; they do not count as failed yet. */
class PendingLookups {
  readonly #byAddress = new Map<string, Map<string, number>>();

  /** `before`: the number of other keys of the address whose lookup started earlier and is still pending. */
  start(address: string, key: string): { readonly before: number; end(): void } {
    const keys = this.#byAddress.get(address) ?? new Map<string, number>();
    const before = keys.get(key) ?? keys.size;
    this.#byAddress.set(address, keys.set(key, before));
    const end = () => {
      keys.delete(key);
      if (keys.size === 0 && this.#byAddress.get(address) === keys) this.#byAddress.delete(address);
    };
    return { before, end };
  }
}

/** Adds the rate-limit headers to the response. RATE_LIMITED when the quota is used up. */
function enforce(
  reply: FastifyReply,
  { allowed, headers, retryAfter, perSecond }: Quota,
  scope: string,
): void {
  reply.headers(headers);
  if (allowed) return;
  throw new Problem('RATE_LIMITED', `More than ${perSecond} requests in a second ${scope}; wait a second.`, {
    'retry-after': String(retryAfter),
  });
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}
