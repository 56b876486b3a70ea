import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { Problem, plainProblem } from './problem.ts';
import { PROBLEM_TYPES } from './problem-types.ts';

const CHALLENGE = { 'www-authenticate': 'Bearer' };

const HOST_OF_ENVIRONMENT: Readonly<Record<EnvironmentName, string>> = {
  live: 'This is a live key; it is used on the live (production) host.',
  test: 'This is a test key; it is used on the sandbox host.',
};

/** The refusal of a request without a bearer API key. */
export function missingApiKey(): Problem {
  return plainProblem('API_KEY_MISSING', CHALLENGE);
}

/** The refusal of a key that is mistyped, unknown or revoked; they are not told apart. */
export function invalidApiKey(): Problem {
  return plainProblem('API_KEY_INVALID', CHALLENGE);
}

/** The refusal of a key after its expiry. */
export function expiredApiKey(): Problem {
  return plainProblem('API_KEY_EXPIRED', CHALLENGE);
}

/** The refusal of a key of this environment on the host of the other one. */
export function keyOfOtherEnvironment(environment: EnvironmentName): Problem {
  return new Problem('API_KEY_ENVIRONMENT_MISMATCH', HOST_OF_ENVIRONMENT[environment], CHALLENGE);
}

/** The refusal of a good key without the scope that an operation takes. */
export function missingScope(scope: ApiKeyScopeName): Problem {
  return new Problem('INSUFFICIENT_SCOPE', `This operation takes an API key with the scope ${scope}.`);
}

/** Whether an error says that a key is missing or no good, as opposed to that it could not be checked. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof Problem && PROBLEM_TYPES[error.code].status === 401;
}
