import { Type } from 'typebox';
import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { keyOfOtherEnvironment, missingScope } from '../access-problems.ts';
import type { OperationErrors, OperationSchema } from '../operation.ts';
import { PROBLEM_MEDIA_TYPE, Problem, type ProblemBody, problemBody } from '../problem.ts';
import { PROBLEM_CODES, PROBLEM_TYPES, type ProblemCode, type ProblemType } from '../problem-types.ts';
import { oneOf, resource } from '../schemas.ts';
import { EXAMPLE_REQUEST_ID, type HeaderName, headerReferences } from './headers.ts';
import type { JsonObject, NamedSchemas } from './named-schemas.ts';

/** The body of every error. The contract does not require `code`; the answers of an operation do. */
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
const commonErrors = (scope: ApiKeyScopeName, environment: EnvironmentName): OperationErrors => ({
  API_KEY_MISSING: true,
  API_KEY_INVALID: true,
  API_KEY_EXPIRED: true,
  API_KEY_ENVIRONMENT_MISMATCH: keyOfOtherEnvironment(environment === 'live' ? 'test' : 'live').message,
  INSUFFICIENT_SCOPE: missingScope(scope).message,
  REQUEST_TIMEOUT: 'The request must arrive completely within 30 s.',
  URI_TOO_LONG: true,
  RATE_LIMITED: 'More than 100 requests in a second with this key; wait a second.',
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

/** What examples show of the listener that answers. */
export interface Listener {
  readonly environment: EnvironmentName;
  /** Of the documentation of errors. */
  readonly docsUrl: string;
}

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
  { method, target, listener: { environment, docsUrl } }: Place,
): ProblemBody[] {
  const answered: OperationErrors = {
    ...commonErrors(scope, environment),
    ...(method === 'POST' && BODY_ERRORS),
    ...errors,
  };
  return PROBLEM_CODES.filter((code) => answered[code] !== undefined).map((code) => {
    const { detail = String(answered[code]) }: ProblemType = PROBLEM_TYPES[code];
    return problemBody(new Problem(code, detail), { docsUrl, target, requestId: EXAMPLE_REQUEST_ID });
  });
}

/** Every error response of an operation, by status, each narrowed to the codes that it can have. */
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
        headers: headerReferences(headersOf(status)),
        content: {
          [PROBLEM_MEDIA_TYPE]: {
            schema: narrowed(
              schemas.use(PROBLEM),
              status,
              problems.map(({ code }) => code),
            ),
            examples: Object.fromEntries(
              problems.map((value) => [value.code, { summary: value.title, value: { ...value } }]),
            ),
          },
        },
      },
    ]),
  );
}

function narrowed(problem: JsonObject, status: number, codes: readonly ProblemCode[]): JsonObject {
  const members = { status: { const: status }, code: { enum: codes } };
  return { allOf: [problem, { type: 'object', properties: members, required: ['code'] }] };
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
