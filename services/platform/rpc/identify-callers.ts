import { hash } from 'node:crypto';
import type { DescMethod } from '@bufbuild/protobuf';
import type { ContextValues } from '@connectrpc/connect';
import { unauthenticated } from '../errors.ts';
import type { CertificateCaller, ServiceToken } from '../process/setting-parsers.ts';
import { type Caller, type Header, identifyCall, REQUEST_ID_HEADER } from './call-context.ts';
import { certificateCallers } from './certificate-callers.ts';
import { onTheWire } from './connect-errors.ts';
import { requiredGrant } from './grants.ts';
import { peerOf } from './peer-certificate.ts';
import { isRequestId, newRequestId } from './request-id.ts';

const ANONYMOUS: Caller = { name: 'anonymous', grants: new Set() };

/** Finds the caller of a token by the SHA-256 of the token in hex; undefined when the token is not valid. */
export type FindCaller = (tokenSha256: string) => Promise<Caller | undefined>;

/** Identifies the caller of a call on the port by its headers, and stores it in the call's values. */
export type IdentifyCaller = (method: DescMethod, header: Header, values: ContextValues) => Promise<void>;

export interface CallerSources {
  readonly tokens: readonly ServiceToken[];
  /** Callers in addition to those of `tokens`. Default: none. */
  readonly storedCallers?: FindCaller | undefined;
  /** Callers identified by their certificate instead of a token. Default: none. */
  readonly certificates?: readonly CertificateCaller[] | undefined;
}

/**
 * Identifies callers by the hash of their bearer token or, on a port with mutual TLS, by their certificate if they
 * have no token. Health and reflection need neither. UNAUTHENTICATED (SERVICE_TOKEN_MISSING, SERVICE_TOKEN_INVALID,
 * CERTIFICATE_UNKNOWN, CERTIFICATE_EXPIRED); UNAVAILABLE (DATABASE_UNAVAILABLE) for a token that is not in the
 * settings while stored ones cannot be read.
 */
export function identifyCallers({ tokens, storedCallers, certificates = [] }: CallerSources): IdentifyCaller {
  const findByCertificate = certificateCallers(certificates);
  const configured = new Map(
    tokens.map(({ name, tokenSha256, grants }): [string, Caller] => [
      tokenSha256,
      { name, grants: new Set(grants) },
    ]),
  );
  const findByToken = async (authorization: string): Promise<Caller> => {
    const [scheme, token] = authorization.split(' ');
    if (scheme?.toLowerCase() !== 'bearer' || !token) {
      throw unauthenticated('SERVICE_TOKEN_MISSING', 'this port requires a bearer service token');
    }
    const tokenSha256 = hash('sha256', token);
    const caller = configured.get(tokenSha256) ?? (await storedCallers?.(tokenSha256));
    if (!caller) throw invalidToken();
    return caller;
  };
  const identified = async (header: Header, values: ContextValues) => {
    const authorization = header('authorization') ?? undefined;
    const peer = authorization === undefined ? peerOf(values) : undefined;
    return peer ? findByCertificate(peer) : findByToken(authorization ?? '');
  };
  return async (method, header, values) => {
    const requestId = header(REQUEST_ID_HEADER) ?? '';
    const caller =
      requiredGrant(method) === undefined
        ? ANONYMOUS
        : await identified(header, values).catch((error: unknown) => {
            // Nothing else maps domain errors before the interceptors run.
            throw onTheWire(error);
          });
    identifyCall(values, caller, isRequestId(requestId) ? requestId : newRequestId(), header);
  };
}

export const invalidToken = () =>
  unauthenticated('SERVICE_TOKEN_INVALID', 'the service token is unknown, expired or revoked');
