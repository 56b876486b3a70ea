import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { Problem, staticProblem } from './problem.ts';
import { PROBLEM_TYPES } from './problem-types.ts';

const CHALLENGE = { 'www-authenticate': 'Bearer' };

const HOST_OF_ENVIRONMENT: Readonly<Record<EnvironmentName, string>> = {
  live: 'This is a live key; use it on the live (production) host.',
  test: 'This is a test key; use it on the sandbox host.',
};

/** A request without a valid key. A key that is mistyped, unknown or revoked is API_KEY_INVALID. */
export function apiKeyProblem(code: 'API_KEY_MISSING' | 'API_KEY_INVALID' | 'API_KEY_EXPIRED'): Problem {
  return staticProblem(code, CHALLENGE);
}

/** A key of the given environment on the host of the other one. */
export function apiKeyEnvironmentMismatch(environment: EnvironmentName): Problem {
  return new Problem('API_KEY_ENVIRONMENT_MISMATCH', HOST_OF_ENVIRONMENT[environment], CHALLENGE);
}

/** A valid key without the scope that an operation requires. */
export function missingScope(scope: ApiKeyScopeName): Problem {
  return new Problem('INSUFFICIENT_SCOPE', `This operation requires an API key with the scope ${scope}.`);
}

/** Whether an error means that the key is missing or invalid, rather than that it could not be checked. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof Problem && PROBLEM_TYPES[error.code].status === 401;
}
