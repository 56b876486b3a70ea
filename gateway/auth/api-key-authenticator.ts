import type { Client } from '@connectrpc/connect';
import type { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { environmentOfApiKey } from '../../services/platform/api-key-format.ts';
import { type EnvironmentName, environmentEnum } from '../../services/platform/tenant.ts';
import { callFor } from '../clients.ts';
import { invalidApiKey, isUnauthenticated } from '../problems/access-problems.ts';
import { problemOfRpc } from '../problems/rpc-problems.ts';

/** Whose key a request showed. */
export interface ApiCaller {
  readonly apiKeyId: string;
  readonly scopes: readonly ApiKeyScope[];
  /** What every request to a service names. */
  readonly tenant: { readonly merchantId: string; readonly environment: Environment };
}

interface Known {
  readonly caller: ApiCaller;
  readonly freshUntil: number;
}

interface Asking {
  readonly answer: Promise<ApiCaller>;
  readonly freshUntil: number;
}

/** A revocation takes effect within five seconds: an answer counts for four, from when it was asked for. */
const FRESH_MS = 4_000;
const MAX_KNOWN = 20_000;

/**
 * Authenticates the keys of one environment and remembers the good ones for a moment. Only keys that were found good
 * are remembered, so nobody can fill the memory with guesses.
 */
export class ApiKeyAuthenticator {
  readonly #apiKeys: Client<typeof ApiKeyService>;
  readonly #environment: Environment;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Asking>();
  readonly #maxKnown: number;

  constructor(
    apiKeys: Client<typeof ApiKeyService>,
    environment: EnvironmentName,
    maxKnown: number = MAX_KNOWN,
  ) {
    this.#maxKnown = maxKnown;
    this.#apiKeys = apiKeys;
    this.#environment = environmentEnum(environment);
  }

  /** The caller of a key that was found good a moment ago; undefined when it must be asked for. */
  fresh(key: string): ApiCaller | undefined {
    const known = this.#known.get(key);
    return known !== undefined && known.freshUntil > performance.now() ? known.caller : undefined;
  }

  /** Whether the key was good when last asked for, however long ago. */
  wasGood(key: string): boolean {
    return this.#known.has(key);
  }

  /**
   * The caller of a key. Problems: API_KEY_INVALID (a mistyped key without asking anybody), API_KEY_EXPIRED,
   * API_KEY_ENVIRONMENT_MISMATCH. Requests that show the same key at the same time ask once; one that comes when an
   * answer would no longer count asks again.
   */
  async authenticate(key: string, requestId: string): Promise<ApiCaller> {
    if (environmentOfApiKey(key) === undefined) throw invalidApiKey();
    const asking = this.#asking.get(key);
    if (asking !== undefined && asking.freshUntil > performance.now()) return asking.answer;
    const freshUntil = performance.now() + FRESH_MS;
    const own: Asking = { answer: this.#ask(key, requestId, freshUntil), freshUntil };
    this.#asking.set(key, own);
    try {
      return await own.answer;
    } finally {
      if (this.#asking.get(key) === own) this.#asking.delete(key);
    }
  }

  async #ask(key: string, requestId: string, freshUntil: number): Promise<ApiCaller> {
    const environment = this.#environment;
    const { apiKeyId, merchantId, scopes } = await this.#apiKeys
      .authenticateApiKey({ key, environment }, callFor({ id: requestId }))
      .catch((error: unknown) => {
        const problem = problemOfRpc(error);
        if (isUnauthenticated(problem)) this.#known.delete(key);
        throw problem;
      });
    const caller: ApiCaller = { apiKeyId, scopes, tenant: { merchantId, environment } };
    // Those asked for last stay: a key that is in use is not forgotten for one that was used once.
    this.#known.delete(key);
    if (this.#known.size >= this.#maxKnown) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, { caller, freshUntil });
    return caller;
  }
}
