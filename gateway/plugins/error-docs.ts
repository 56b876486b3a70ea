import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { ERROR_RETRIES, errorActions, retryTexts } from '../docs/error-advice.texts.ts';
import { errorMeanings } from '../docs/error-meanings.texts.ts';
import { errorPagesTexts, languageNames } from '../docs/error-pages.texts.ts';
import { ERROR_PAGE_PATHS, GUIDE_LANGUAGES, type GuideLanguage, REFERENCE_PATHS } from '../docs/languages.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import type { ApiHost } from '../openapi/api-host.ts';
import { EXAMPLE_REQUEST_ID } from '../openapi/headers.ts';
import { examplePath, type RoutedOperation } from '../openapi/operations.ts';
import { exampleProblems } from '../openapi/problem-responses.ts';
import {
  ERROR_DOCS_PATH,
  Problem,
  type ProblemBody,
  problemBody,
  staticProblem,
} from '../problems/problem.ts';
import { PROBLEM_CODES, PROBLEM_TYPES, type ProblemCode } from '../problems/problem-types.ts';

/** Additional headers of error responses, by status. */
const HEADERS_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  405: 'Allow',
  429: 'Retry-After, RateLimit-Policy, RateLimit',
  503: 'Retry-After',
};

/** Errors that belong to no operation, by an example target. */
const ROUTING_PROBLEMS: ReadonlyMap<string, Problem> = new Map([
  ['/v1/refund-cases/', staticProblem('ROUTE_NOT_FOUND')],
  [
    '/v1/refund-cases',
    new Problem('METHOD_NOT_ALLOWED', 'The method DELETE is not allowed here; allowed: GET, HEAD.'),
  ],
]);

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
body { margin: 0 auto; max-width: 48rem; padding: 2rem 1.25rem 6rem }
h1 { margin-bottom: 0 }
h2 { font: 600 1.05rem/1.4 ui-monospace, monospace; margin: 0 0 .25rem }
section { border-top: 1px solid #8884; padding: 1.25rem 0; scroll-margin-top: 1rem }
section:target { border-left: 4px solid #0a7ea4; padding-left: 1rem }
dl { display: grid; grid-template-columns: 7rem 1fr; gap: .25rem 1rem; margin: .5rem 0 }
dt { opacity: .7 }
dd { margin: 0 }
pre { background: #8881; border-radius: 6px; overflow-x: auto; padding: .75rem 1rem }
code, pre { font: .85rem/1.5 ui-monospace, monospace }
nav ul { columns: 2; list-style: none; padding: 0 }
a { color: inherit }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface ErrorDocsOptions extends Pick<RouteDependencies, 'access'> {
  /** The operations whose examples are shown. */
  readonly operations: readonly RoutedOperation[];
  readonly host: () => ApiHost;
}

/** Serves the error reference in each language, one entry per code, without scripts. */
export function serveErrorDocs(app: GatewayApp, { access, operations, host }: ErrorDocsOptions): void {
  for (const language of GUIDE_LANGUAGES) {
    let page: string | undefined;
    app.get(
      ERROR_PAGE_PATHS[language],
      { onRequest: access.open('readErrorDocs') },
      async (_request, reply) => {
        page ??= String(await errorDocs(examplesOf(operations, host()), language));
        return reply
          .type('text/html; charset=utf-8')
          .headers({ 'cache-control': 'public, max-age=300', 'content-security-policy': POLICY })
          .send(page);
      },
    );
  }
}

/** One example of each error; those of operations are the ones in the OpenAPI document. */
function examplesOf(
  operations: readonly RoutedOperation[],
  host: ApiHost,
): ReadonlyMap<ProblemCode, ProblemBody> {
  const ofOperations = operations.flatMap((operation) => {
    const { method, schema } = operation;
    return exampleProblems(schema, { method, target: examplePath(operation), host });
  });
  const docsUrl = `${host.baseUrl}${ERROR_DOCS_PATH}`;
  const ofRouting = [...ROUTING_PROBLEMS].map(([target, problem]) =>
    problemBody(problem, { docsUrl, target, requestId: EXAMPLE_REQUEST_ID }),
  );
  return new Map([...ofOperations, ...ofRouting].reverse().map((example) => [example.code, example]));
}

function errorDocs(examples: ReadonlyMap<ProblemCode, ProblemBody>, language: GuideLanguage) {
  const t = errorPagesTexts[language];
  return html`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${t.pageTitle}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${raw(STYLE)}</style></head><body><main>
<h1>${t.title}</h1>
<p>${t.intro} ${t.typeHint} ${otherLanguages(language)} · <a href="${REFERENCE_PATHS[language]}/">${t.back}</a></p>
<nav><ul>${PROBLEM_CODES.map((code) => html`<li><a href="#${code}"><code>${code}</code></a></li>`)}</ul></nav>
${PROBLEM_CODES.map((code) => entry(code, examples.get(code), language))}</main></body></html>`;
}

function entry(code: ProblemCode, example: ProblemBody | undefined, language: GuideLanguage) {
  const t = errorPagesTexts[language];
  const { status, title } = PROBLEM_TYPES[code];
  const rows = [
    [t.status, `${status} ${title}`],
    [t.meaning, errorMeanings[language][code]],
    [t.action, errorActions[language][code]],
    [t.retry, retryTexts[language][ERROR_RETRIES[code]]],
    [t.headers, HEADERS_OF_STATUS[status]],
  ].filter(([, text]) => text !== undefined);
  return html`<section id="${code}"><h2>${code}</h2>${otherLanguages(language, code)}<dl>
${rows.map(
  ([term, text]) => html`<dt>${term}</dt><dd>${text}</dd>
`,
)}</dl>
${example && html`<pre>${JSON.stringify(example, null, 2)}</pre>`}
</section>
`;
}

/** Links to the same page, or to its entry of a code, in the other languages. */
function otherLanguages(language: GuideLanguage, code?: ProblemCode) {
  return GUIDE_LANGUAGES.filter((other) => other !== language).map((other, index) => {
    const href = `${ERROR_PAGE_PATHS[other]}${code ? `#${code}` : ''}`;
    return html`${index > 0 ? ' · ' : ''}<a href="${href}" lang="${other}" hreflang="${other}">${languageNames[other]}</a>`;
  });
}
