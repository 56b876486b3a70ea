import { PROBLEM_TYPES, type ProblemCode, type StaticProblemCode } from './problem-types.ts';

/** The body of every error response: exactly these seven fields. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly requestId: string;
  readonly code: ProblemCode;
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** The path, below the public URL, that the `type` of every problem points to. */
export const ERROR_DOCS_PATH = '/docs/errors';

const MAX_INSTANCE_LENGTH = 500;

/** The maximum length of a parameter name or JSON pointer in a detail. */
export const MAX_POINTER_SHOWN = 100;

/**
 * An error that merchants may see: its code, a detail that names what is at fault, and additional response headers.
 * The cause, if any, is only logged.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
    cause?: unknown,
  ) {
    super(detail, { cause });
    this.name = 'Problem';
    this.code = code;
    this.headers = headers;
  }
}

/** Creates a problem with the fixed detail of its code. */
export function staticProblem(
  code: StaticProblemCode,
  headers: Readonly<Record<string, string>> = {},
  cause?: unknown,
): Problem {
  return new Problem(code, PROBLEM_TYPES[code].detail, headers, cause);
}

/**
 * The response body of a problem. `target` is the request target as received; the instance is its path without the
 * query. `docsUrl` is the URL of the error documentation.
 */
export function problemBody(
  problem: Problem,
  { docsUrl, requestId, target }: { docsUrl: string; requestId: string; target: string },
): ProblemBody {
  const { status, title } = PROBLEM_TYPES[problem.code];
  return {
    type: `${docsUrl}#${problem.code}`,
    title,
    status,
    detail: problem.message.toWellFormed(),
    instance: pathOf(target).slice(0, MAX_INSTANCE_LENGTH),
    requestId,
    code: problem.code,
  };
}

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/** The path of a request target, without the query and without the origin of an absolute-form target. */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const end = local.search(/[?#]/);
  return (end < 0 ? local : local.slice(0, end)) || '/';
}
