import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { environmentOfApiKey } from '../../services/platform/api-key-format.ts';
import { type EnvironmentName, environmentEnum, type TenantFields } from '../../services/platform/tenant.ts';
import { callFor } from '../clients.ts';
import { apiKeyProblem, isUnauthenticated } from '../problems/access-problems.ts';
import { problemOfRpc } from '../problems/rpc-problems.ts';

/** The owner of an authenticated API key. */
export interface ApiCaller {
  readonly apiKeyId: string;
  readonly scopes: readonly ApiKeyScope[];
  /** The tenant that every RPC names. */
  readonly tenant: TenantFields;
}

interface CachedCaller {
  readonly caller: ApiCaller;
  readonly freshUntil: number;
}

interface PendingLookup {
  readonly caller: Promise<ApiCaller>;
  readonly freshUntil: number;
}

/**
 * A lookup is valid for four seconds from its start, so that a revocation takes effect within five. The expiry of a key
 * is known in advance and ends the validity on time.
 */
const FRESH_MS = 4_000;
const MAX_CACHED = 20_000;

/**
 * Authenticates the API keys of one environment and caches valid ones for a few seconds. Only valid keys are cached, so
 * guessed keys cannot fill the memory.
 */
export class ApiKeyAuthenticator {
  readonly #apiKeys: Client<typeof ApiKeyService>;
  readonly #environment: Environment;
  readonly #cache = new Map<string, CachedCaller>();
  readonly #pending = new Map<string, PendingLookup>();
  readonly #maxCached: number;

  constructor(
    apiKeys: Client<typeof ApiKeyService>,
    environment: EnvironmentName,
    maxCached: number = MAX_CACHED,
  ) {
    this.#maxCached = maxCached;
    this.#apiKeys = apiKeys;
    this.#environment = environmentEnum(environment);
  }

  /** The caller of a recently authenticated key; undefined when the key must be looked up. */
  findCached(key: string): ApiCaller | undefined {
    const cached = this.#cache.get(key);
    return cached !== undefined && cached.freshUntil > performance.now() ? cached.caller : undefined;
  }

  /** Whether the last lookup of the key succeeded, however long ago. */
  wasValid(key: string): boolean {
    return this.#cache.has(key);
  }

  /**
   * Authenticates a key over RPC. Problems: API_KEY_INVALID (without an RPC for a mistyped key), API_KEY_EXPIRED,
   * API_KEY_ENVIRONMENT_MISMATCH. Concurrent requests with the same key share one lookup until it is stale.
   */
  async authenticate(key: string, requestId: string): Promise<ApiCaller> {
    if (environmentOfApiKey(key) === undefined) throw apiKeyProblem('API_KEY_INVALID');
    const pending = this.#pending.get(key);
    if (pending !== undefined && pending.freshUntil > performance.now()) return pending.caller;
    const freshUntil = performance.now() + FRESH_MS;
    const own: PendingLookup = { caller: this.#lookUp(key, requestId, freshUntil), freshUntil };
    this.#pending.set(key, own);
    try {
      return await own.caller;
    } finally {
      if (this.#pending.get(key) === own) this.#pending.delete(key);
    }
  }

  async #lookUp(key: string, requestId: string, freshUntil: number): Promise<ApiCaller> {
    const environment = this.#environment;
    const { apiKeyId, merchantId, scopes, expiresAt } = await this.#apiKeys
      .authenticateApiKey({ key, environment }, callFor({ id: requestId }))
      .catch((error: unknown) => {
        const problem = problemOfRpc(error);
        if (isUnauthenticated(problem)) this.#cache.delete(key);
        throw problem;
      });
    const caller: ApiCaller = { apiKeyId, scopes, tenant: { merchantId, environment } };
    // Evicts the least recently looked-up key.
    this.#cache.delete(key);
    if (this.#cache.size >= this.#maxCached) this.#cache.delete(this.#cache.keys().next().value!);
    const expiresInMs = expiresAt === undefined ? Infinity : timestampMs(expiresAt) - Date.now();
    this.#cache.set(key, { caller, freshUntil: Math.min(freshUntil, performance.now() + expiresInMs) });
    return caller;
  }
}
