import type { FastifyReply, FastifyRequest } from 'fastify';
import { environmentOfApiKey } from '../../services/platform/api-key-format.ts';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import { isUnauthenticated, missingApiKey, missingScope } from '../problems/access-problems.ts';
import { Problem } from '../problems/problem.ts';
import { countedAddress } from '../rate-limits/client-address.ts';
import type { Quota } from '../rate-limits/rate-limit.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { ApiCaller, ApiKeyAuthenticator } from './api-key-authenticator.ts';

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Makes the hooks that let a request in. */
export interface Access {
  /** For an operation that takes a key with a scope: limit by address, key, environment, scope, limit by key. */
  withScope(operation: string, scope: ApiKeyScopeName): OnRequest;
  /** For what anybody may read: limit by address. */
  open(operation: string): OnRequest;
}

interface AccessOptions {
  readonly authenticator: ApiKeyAuthenticator;
  readonly limits: RateLimits;
}

const BEARER = /^Bearer +(\S+) *$/i;
const TOO_MANY_WITHOUT_KEY = 'without a valid key';

/**
 * Hooks in the order in which the API checks. A key that was found good a moment ago is let in without asking. Only
 * what fails to authenticate counts against an address, and only guesses that had to be asked for keep a key that is
 * not known here from being asked for: whoever shares an address with a flood keeps the whole quota of a good key.
 */
export function createAccess({ authenticator, limits }: AccessOptions): Access {
  const questions = new OpenQuestions();

  /** Asks whose an unknown key is, unless too many that its address showed are none, or are still asked for. */
  async function askFor(key: string, address: string, requestId: string, reply: FastifyReply) {
    const question = questions.open(address, key);
    try {
      admit(reply, await limits.guesses.peek(address, question.before), TOO_MANY_WITHOUT_KEY);
      return await authenticator.authenticate(key, requestId);
    } catch (error) {
      if (isUnauthenticated(error)) await limits.guesses.take(address);
      throw error;
    } finally {
      question.close();
    }
  }

  async function authenticated(request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller> {
    const key = bearerToken(request.headers.authorization);
    const caller = key === undefined ? undefined : authenticator.fresh(key);
    if (caller !== undefined) return caller;
    const address = countedAddress(request.ip);
    try {
      if (key === undefined) throw missingApiKey();
      const isUnknown = environmentOfApiKey(key) !== undefined && !authenticator.wasGood(key);
      if (isUnknown) return await askFor(key, address, request.id, reply);
      return await authenticator.authenticate(key, request.id);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      admit(reply, await limits.address.take(address), TOO_MANY_WITHOUT_KEY);
      throw error;
    }
  }

  return {
    withScope: (operation, scope) => async (request, reply) => {
      request.operation = operation;
      const caller = await authenticated(request, reply);
      request.caller = caller;
      const quota = await limits.key.take(caller.apiKeyId);
      if (!caller.scopes.includes(API_KEY_SCOPES[scope])) {
        reply.headers(quota.headers);
        throw missingScope(scope);
      }
      admit(reply, quota, 'with this key');
    },
    open: (operation) => async (request, reply) => {
      request.operation = operation;
      admit(reply, await limits.address.take(countedAddress(request.ip)), 'from this address');
    },
  };
}

/** The unknown keys that are being asked for, by the address that showed them: not counted as guesses yet. */
class OpenQuestions {
  readonly #byAddress = new Map<string, Map<string, number>>();

  /** `before`: how many other keys of the address were being asked for when this one first was. */
  open(address: string, key: string): { readonly before: number; close(): void } {
    const keys = this.#byAddress.get(address) ?? new Map<string, number>();
    const before = keys.get(key) ?? keys.size;
    this.#byAddress.set(address, keys.set(key, before));
    const close = () => {
      keys.delete(key);
      if (keys.size === 0 && this.#byAddress.get(address) === keys) this.#byAddress.delete(address);
    };
    return { before, close };
  }
}

/** Tells the quota on the answer, whatever it will be. RATE_LIMITED when there is none left. */
function admit(
  reply: FastifyReply,
  { admitted, headers, retryAfter, perSecond }: Quota,
  whose: string,
): void {
  reply.headers(headers);
  if (admitted) return;
  throw new Problem('RATE_LIMITED', `More than ${perSecond} requests in a second ${whose}; wait a second.`, {
    'retry-after': String(retryAfter),
  });
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}
