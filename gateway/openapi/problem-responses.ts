import { Type } from 'typebox';
import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import { keyOfOtherEnvironment, missingScope } from '../problems/access-problems.ts';
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
import { EXAMPLE_REQUEST_ID, type HeaderName, headerReferences } from './headers.ts';
import type { Listener } from './listener.ts';
import type { JsonObject, NamedSchemas } from './named-schemas.ts';

/** The body of every error; the contract does not require `code`. */
const PROBLEM = resource('Problem', 'Why a request was refused. The `type` opens the entry of its `code`.', {
  type: Type.String({ format: 'uri', description: 'Where this kind of error is documented.' }),
  title: Type.String({ description: 'The kind of error, in words.' }),
  status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status.' }),
  detail: Type.String({ description: 'What exactly is at fault, and what is allowed.' }),
  instance: Type.String({ description: 'Path of the request.' }),
  requestId: Type.String({ format: 'uuid', description: 'Identifies the request; quote it to support.' }),
  code: Type.Optional(oneOf(PROBLEM_CODES, 'The machine-readable name of the error.')),
});

/** What every operation can answer. */
const commonErrors = (
  scope: ApiKeyScopeName,
  { environment, keyLimit, requestTimeoutMs }: Listener,
): OperationErrors => ({
  API_KEY_MISSING: true,
  API_KEY_INVALID: true,
  API_KEY_EXPIRED: true,
  API_KEY_ENVIRONMENT_MISMATCH: keyOfOtherEnvironment(environment === 'live' ? 'test' : 'live').message,
  INSUFFICIENT_SCOPE: missingScope(scope).message,
  REQUEST_TIMEOUT: `The request must arrive completely within ${requestTimeoutMs / 1_000} s.`,
  URI_TOO_LONG: true,
  RATE_LIMITED: `More than ${keyLimit} requests in a second with this key; wait a second.`,
  HEADERS_TOO_LARGE: true,
  INTERNAL_ERROR: true,
  SERVICE_UNAVAILABLE: true,
  DEADLINE_EXCEEDED: true,
});

/** What can be wrong with a body, whether or not the operation takes one: every POST may bring one. */
const BODY_ERRORS: OperationErrors = {
  PAYLOAD_TOO_LARGE: 'The body must be at most 64 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'Header Content-Type must be application/json, in UTF-8.',
};

/** Where an operation is served, as its examples show it. */
export interface Place {
  readonly method: string;
  /** A real path. */
  readonly target: string;
  readonly listener: Listener;
}

/** An example of each error of an operation, as the listener answers it. */
export function exampleProblems(
  { scope, errors }: OperationSchema,
  { method, target, listener }: Place,
): ProblemBody[] {
  const answered: OperationErrors = {
    ...commonErrors(scope, listener),
    ...(method === 'POST' && BODY_ERRORS),
    ...errors,
  };
  const docsUrl = `${listener.baseUrl}${ERROR_DOCS_PATH}`;
  return PROBLEM_CODES.filter((code) => answered[code] !== undefined).map((code) => {
    const { detail = String(answered[code]) }: ProblemType = PROBLEM_TYPES[code];
    return problemBody(new Problem(code, detail), { docsUrl, target, requestId: EXAMPLE_REQUEST_ID });
  });
}

/**
 * Every error response of an operation, by status. The body is the same schema everywhere, so that generated clients
 * have one type for it; the codes of an operation's status are in the examples and in `x-error-codes`.
 */
export function problemResponses(
  operation: OperationSchema,
  place: Place,
  schemas: NamedSchemas,
): JsonObject {
  const byStatus = Map.groupBy(exampleProblems(operation, place), ({ status }) => status);
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
      return ['Request-Id', 'Retry-After', 'RateLimit-Policy', 'RateLimit'];
    // Answered before any limit is looked at.
    case 408:
    case 414:
    case 431:
      return ['Request-Id'];
    default:
      return ['Request-Id', 'RateLimit-Policy', 'RateLimit'];
  }
}
