import { type PlainCode, PROBLEM_TYPES, type ProblemCode } from './problem-types.ts';

/** The body of every error answer: these seven fields and nothing more. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly requestId: string;
  readonly code: ProblemCode;
}

/** The media type of every error answer. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Where the `type` of every problem points, below the public URL. */
export const ERROR_DOCS_PATH = '/docs/errors';

const MAX_INSTANCE_LENGTH = 500;

/** How many characters of a parameter's name or a JSON pointer a detail shows. */
export const MAX_POINTER_SHOWN = 100;

/**
 * An error that a merchant may see: its code, what exactly is at fault, and headers that go with it. The cause, if
 * any, is for our log alone.
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

/** A problem of which always the same is said. */
export function plainProblem(
  code: PlainCode,
  headers: Readonly<Record<string, string>> = {},
  cause?: unknown,
): Problem {
  return new Problem(code, PROBLEM_TYPES[code].detail, headers, cause);
}

/**
 * The body of a problem. `target` is the request's target as it was sent; the instance is its path, without the
 * query. `docsUrl` is where the documentation of errors is served.
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

/** The path of a request target, without the query, and without the origin that a target may name. */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const end = local.search(/[?#]/);
  return (end < 0 ? local : local.slice(0, end)) || '/';
}
