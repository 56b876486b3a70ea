import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';

/** Why a sign-in failed. */
export type SignInFault = 'denied' | 'stale' | 'untrusted' | 'refused' | 'unavailable' | 'limited';

const STATUSES: Readonly<Record<SignInFault, number>> = {
  denied: 403,
  stale: 400,
  untrusted: 400,
  refused: 502,
  unavailable: 503,
  limited: 429,
};

/**
 * The HTTP status of a fault. A response that comes through the browser is the browser's: anybody can write one, and it must
 * not count as a failure of the dashboard.
 */
export function faultStatus(fault: SignInFault, error?: unknown): number {
  const status = STATUSES[fault];
  return error instanceof AuthorizationResponseError && status >= 500 ? 400 : status;
}

const UNREACHABLE: readonly unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
];

/**
 * Classifies an error of the exchange with the provider, or of an account that signs in too often; undefined for any
 * other error.
 */
export function faultOf(error: unknown): SignInFault | undefined {
  if (errorInfoOf(error)?.reason === 'SIGN_IN_LIMIT_REACHED') return 'limited';
  if (error instanceof AuthorizationResponseError) return faultOfResponse(error.error);
  // The code has been used before, or belongs to another flow.
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant' ? 'stale' : 'refused';
  if (error instanceof WWWAuthenticateChallengeError) return 'refused';
  if (error instanceof ClientError) return UNREACHABLE.includes(error.code) ? 'unavailable' : 'untrusted';
  // fetch: the provider is unreachable.
  return error instanceof TypeError && error.cause !== undefined ? 'unavailable' : undefined;
}

function faultOfResponse(error: string): SignInFault {
  switch (error) {
    case 'access_denied':
    case 'login_required':
    case 'consent_required':
    case 'interaction_required':
    case 'account_selection_required':
      return 'denied';
    case 'server_error':
    case 'temporarily_unavailable':
      return 'unavailable';
    default:
      return 'refused';
  }
}

/** The details that are safe to log: no tokens or codes. */
export function describeFault(error: unknown): Record<string, unknown> {
  const { name, message, code, error: providerError } = error as Error & { code?: string; error?: string };
  const { cause } = error as Error;
  const causeMessage = cause instanceof Error ? cause.message : undefined;
  return { name, message, code, providerError, cause: causeMessage };
}
