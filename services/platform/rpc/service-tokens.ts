import { hash } from 'node:crypto';
import type { DescMethod } from '@bufbuild/protobuf';
import type { ContextValues } from '@connectrpc/connect';
import { DomainError, unauthenticated } from '../errors.ts';
import type { ServiceToken } from '../process/setting-parsers.ts';
import { type Caller, identifyCall, identifyOrigin, REQUEST_ID_HEADER } from './call-context.ts';
import { toConnectError } from './connect-errors.ts';
import { requiredGrant } from './grants.ts';
import { newRequestId } from './request-id.ts';

const ANONYMOUS: Caller = { name: 'anonymous', grants: new Set() };
const MAX_TOKEN_HASHES = 1_000;
const REQUEST_ID = /^[\x21-\x7e]{1,100}$/;

/** Callers whose tokens are not in the settings. */
export interface CallerDirectory {
  /** The caller of a token, by the SHA-256 of the token in hex; undefined when the token is not valid. */
  find(tokenSha256: string): Promise<Caller | undefined>;
}

/** Stores the caller of a call on the port in its values, by its headers. */
export type IdentifyCaller = (
  method: DescMethod,
  header: (name: string) => string | null | undefined,
  values: ContextValues,
) => Promise<void>;

/**
 * Identifies callers by the hash of their bearer token. Health and reflection need no token. UNAUTHENTICATED
 * (SERVICE_TOKEN_MISSING, SERVICE_TOKEN_INVALID); UNAVAILABLE (DATABASE_UNAVAILABLE) for a token that is not in the
 * settings while the others cannot be read.
 */
export function identifyCallers(tokens: readonly ServiceToken[], stored?: CallerDirectory): IdentifyCaller {
  const configured = new Map(
    tokens.map(({ name, tokenSha256, grants }): [string, Caller] => [
      tokenSha256,
      { name, grants: new Set(grants) },
    ]),
  );
  const hashes = new TokenHashes();
  const find = async (token: string) => {
    const tokenSha256 = hashes.of(token);
    const caller = configured.get(tokenSha256) ?? (await stored?.find(tokenSha256));
    if (caller) hashes.keep(token, tokenSha256);
    return caller;
  };
  return async (method, header, values) => {
    const requestId = header(REQUEST_ID_HEADER) ?? '';
    const caller =
      requiredGrant(method) === undefined ? ANONYMOUS : await callerOf(header('authorization') ?? '', find);
    identifyCall(values, caller, REQUEST_ID.test(requestId) ? requestId : newRequestId());
    identifyOrigin(values, header);
  };
}

/** Hashes of the tokens that have identified callers: few tokens come with most calls. */
class TokenHashes {
  readonly #kept = new Map<string, string>();

  of(token: string): string {
    return this.#kept.get(token) ?? hash('sha256', token);
  }

  keep(token: string, sha256: string): void {
    if (this.#kept.size >= MAX_TOKEN_HASHES) this.#kept.clear();
    this.#kept.set(token, sha256);
  }
}

async function callerOf(
  authorization: string,
  find: (token: string) => Promise<Caller | undefined>,
): Promise<Caller> {
  const [scheme, token] = authorization.split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || !token) {
    throw toConnectError(
      unauthenticated('SERVICE_TOKEN_MISSING', 'this port requires a bearer service token'),
    );
  }
  try {
    const caller = await find(token);
    if (caller) return caller;
  } catch (error) {
    throw error instanceof DomainError ? toConnectError(error) : error;
  }
  throw toConnectError(invalidToken());
}

export const invalidToken = () =>
  unauthenticated('SERVICE_TOKEN_INVALID', 'the service token is unknown, expired or revoked');
