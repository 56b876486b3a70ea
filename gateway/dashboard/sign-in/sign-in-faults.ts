import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** Why somebody was not signed in. */
export type SignInFault = 'denied' | 'stale' | 'untrusted' | 'refused' | 'away';

/** The statuses that the faults are answered with. */
export const FAULT_STATUS: Readonly<Record<SignInFault, number>> = {
  denied: 403,
  stale: 400,
  untrusted: 400,
  refused: 502,
  away: 503,
};

const UNREACHABLE: readonly unknown[] = [
  ...['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'],
  ...['OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR'],
];

/** What went wrong between dashboard and provider; undefined for what is no error of theirs. */
export function faultOf(error: unknown): SignInFault | undefined {
  if (error instanceof AuthorizationResponseError) return faultOfAnswer(error.error);
  // The code was used before, or was given out for another flow.
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant' ? 'stale' : 'refused';
  if (error instanceof WWWAuthenticateChallengeError) return 'refused';
  if (error instanceof ClientError) return UNREACHABLE.includes(error.code) ? 'away' : 'untrusted';
  // Of fetch: nobody there.
  return error instanceof TypeError && error.cause !== undefined ? 'away' : undefined;
}

function faultOfAnswer(error: string): SignInFault {
  switch (error) {
    case 'access_denied':
    case 'login_required':
    case 'consent_required':
    case 'interaction_required':
    case 'account_selection_required':
      return 'denied';
    case 'server_error':
    case 'temporarily_unavailable':
      return 'away';
    default:
      return 'refused';
  }
}

/** What the log may know of it: no token and no code. */
export function describeFault(error: unknown): Record<string, unknown> {
  const { name, message, code, error: answered } = error as Error & { code?: string; error?: string };
  const { cause } = error as Error;
  const because = cause instanceof Error ? cause.message : undefined;
  return { name, message, code, answered, because };
}
