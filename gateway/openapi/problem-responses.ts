import { Type } from 'typebox';
import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import { apiKeyEnvironmentMismatch, missingScope } from '../problems/access-problems.ts';
import {
  ERROR_DOCS_PATH,
  PROBLEM_MEDIA_TYPE,
  Problem,
  type ProblemBody,
  problemBody,
} from '../problems/problem.ts';
import { PROBLEM_CODES, PROBLEM_TYPES, type ProblemType } from '../problems/problem-types.ts';
import type { OperationErrors, OperationSchema } from '../routes/operation.ts';
import { oneOf, resource } from '../routes/schemas.ts';
import type { ApiHost } from './api-host.ts';
import { EXAMPLE_REQUEST_ID, type HeaderName, headerReferences } from './headers.ts';
import type { JsonObject, NamedSchemas } from './named-schemas.ts';

/** The body of every error; `code` is optional in the contract. */
const PROBLEM = resource('Problem', 'An error. Its `type` links to the documentation of its `code`.', {
  type: Type.String({ format: 'uri', description: 'URL of the documentation of the error.' }),
  title: Type.String({ description: 'Short name of the error.' }),
  status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status.' }),
  detail: Type.String({ description: 'What is wrong with this request, and what is allowed.' }),
  instance: Type.String({ description: 'Path of the request.' }),
  requestId: Type.String({ format: 'uuid', description: 'Identifies the request; quote it to support.' }),
  code: Type.Optional(oneOf(PROBLEM_CODES, 'Machine-readable code of the error.')),
});

/** Errors that every operation can return. */
const commonErrors = (
  scope: ApiKeyScopeName,
  { environment, keyLimit, requestTimeoutMs }: ApiHost,
): OperationErrors => ({
  API_KEY_MISSING: true,
  API_KEY_INVALID: true,
  API_KEY_EXPIRED: true,
  API_KEY_ENVIRONMENT_MISMATCH: apiKeyEnvironmentMismatch(environment === 'live' ? 'test' : 'live').message,
  INSUFFICIENT_SCOPE: missingScope(scope).message,
  REQUEST_TIMEOUT: `The request must arrive completely within ${requestTimeoutMs / 1_000} s.`,
  URI_TOO_LONG: true,
  RATE_LIMITED: `More than ${keyLimit} requests in a second with this key; wait a second.`,
  HEADERS_TOO_LARGE: true,
  INTERNAL_ERROR: true,
  SERVICE_UNAVAILABLE: true,
  DEADLINE_EXCEEDED: true,
});

/** Errors of request bodies. Any POST may send a body, even to an operation that has none. */
const BODY_ERRORS: OperationErrors = {
  PAYLOAD_TOO_LARGE: 'The body must be at most 64 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'Header Content-Type must be application/json, in UTF-8.',
};

/** The request that the examples of an operation refer to. */
export interface ExampleTarget {
  readonly method: string;
  /** The path with example parameters. */
  readonly target: string;
  readonly host: ApiHost;
}

/** One example of each error of an operation, as the host returns it. */
export function exampleProblems(
  { scope, errors }: OperationSchema,
  { method, target, host }: ExampleTarget,
): ProblemBody[] {
  const possible: OperationErrors = {
    ...commonErrors(scope, host),
    ...(method === 'POST' && BODY_ERRORS),
    ...errors,
  };
  const docsUrl = `${host.baseUrl}${ERROR_DOCS_PATH}`;
  return PROBLEM_CODES.filter((code) => possible[code] !== undefined).map((code) => {
    const { detail = String(possible[code]) }: ProblemType = PROBLEM_TYPES[code];
    return problemBody(new Problem(code, detail), { docsUrl, target, requestId: EXAMPLE_REQUEST_ID });
  });
}

/**
 * Builds the error responses of an operation, by status. All share one body schema, so generated clients get a single
 * type; the codes of a status are in the examples and in `x-error-codes`.
 */
export function problemResponses(
  operation: OperationSchema,
  example: ExampleTarget,
  schemas: NamedSchemas,
): JsonObject {
  const byStatus = Map.groupBy(exampleProblems(operation, example), ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, problems]) => [
      String(status),
      {
        description: problems.map(({ code }) => `\`${code}\`: ${PROBLEM_TYPES[code].meaning}`).join('\n\n'),
        'x-error-codes': problems.map(({ code }) => code),
        headers: headerReferences(headersOf(status)),
        content: {
          [PROBLEM_MEDIA_TYPE]: {
            schema: schemas.use(PROBLEM),
            examples: Object.fromEntries(
              problems.map((value) => [value.code, { summary: value.title, value: { ...value } }]),
            ),
          },
        },
      },
    ]),
  );
}

function headersOf(status: number): readonly HeaderName[] {
  switch (status) {
    case 401:
      return ['Request-Id', 'WWW-Authenticate', 'RateLimit-Policy', 'RateLimit'];
    case 429:
    case 503:
      return ['Request-Id', 'Retry-After', 'RateLimit-Policy', 'RateLimit'];
    // Sent before any limit is checked.
    case 408:
    case 414:
    case 431:
      return ['Request-Id'];
    default:
      return ['Request-Id', 'RateLimit-Policy', 'RateLimit'];
  }
}
