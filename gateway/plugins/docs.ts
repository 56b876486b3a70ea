import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import { type HtmlRenderingConfiguration, renderApiReference } from '@scalar/client-side-rendering';
import {
  DOCUMENT_PATHS,
  GUIDE_LANGUAGES,
  type GuideLanguage,
  headingId,
  REFERENCE_PATHS,
} from '../docs/languages.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';

/** Makes columns as wide as their words and headings; where the page is narrower than that, the table scrolls. */
const TABLE_STYLE = `.scalar-app .markdown table { table-layout: auto }
.scalar-app .markdown :is(th, td) { word-break: normal }
.scalar-app .markdown :is(th, td) code { white-space: nowrap }
@media (min-width: 1000px) {
.scalar-app .markdown th { white-space: nowrap }
}
@media (max-width: 999.98px) {
.scalar-app .markdown table { display: block; overflow-x: auto }
.scalar-app .markdown td { min-width: 8rem }
}`;

/** Scalar with everything disabled that calls another host: fonts, telemetry, assistants and product links. */
const CONFIGURATION: Partial<HtmlRenderingConfiguration> = {
  // "Try it" calls the host that served the page, the only one that its content security policy allows.
  servers: [{ url: '/' }],
  documentDownloadType: 'direct',
  favicon: 'data:,',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  generateHeadingSlug: headingId,
  customCss: TABLE_STYLE,
};

/** The script is the same for every language. */
const SCRIPT_PATH = `${REFERENCE_PATHS.en}/js/scalar.js`;

const INLINE_SCRIPT = /<script type="text\/javascript">(.*?)<\/script>/gs;
const ACCEPTS_GZIP = /\bgzip\b(?! *; *q=0(\.0*)? *(,|$))/i;
const CACHED = { 'cache-control': 'public, max-age=300', vary: 'accept-encoding' };

/**
 * Serves the interactive API reference, with the guides in each language. It requires no API key and loads nothing from
 * other hosts.
 */
export function serveDocs(app: GatewayApp, { access }: Pick<RouteDependencies, 'access'>): void {
  const hooks = { onRequest: access.open('readDocs') };
  for (const language of GUIDE_LANGUAGES) {
    const path = REFERENCE_PATHS[language];
    const page = referencePage(language);
    const policy = policyOf(page);
    app.get(path, hooks, (_request, reply) => reply.redirect(`${path}/`, 301));
    app.get(`${path}/`, hooks, (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .headers({ ...CACHED, 'content-security-policy': policy })
        .send(page),
    );
  }
  app.get(SCRIPT_PATH, hooks, async ({ headers }, reply) => {
    const { plain, compressed } = await referenceScript();
    reply.type('application/javascript; charset=utf-8').headers(CACHED);
    if (!ACCEPTS_GZIP.test(headers['accept-encoding'] ?? '')) return reply.send(plain);
    return reply.header('content-encoding', 'gzip').send(compressed);
  });
}

const referencePage = (language: GuideLanguage): string =>
  renderApiReference({
    config: { ...CONFIGURATION, url: DOCUMENT_PATHS[language] },
    pageTitle: 'Merchant Payments API',
    cdn: SCRIPT_PATH,
  });

interface Encoded {
  readonly plain: Buffer;
  readonly compressed: Buffer;
}

let script: Promise<Encoded> | undefined;

/** Loads the script on its first request. Every response shares the bytes, so clients that do not read theirs take no memory. */
function referenceScript(): Promise<Encoded> {
  script ??= loadScript().catch((error: unknown) => {
    script = undefined;
    throw error;
  });
  return script;
}

async function loadScript(): Promise<Encoded> {
  const thread = new Worker(new URL('../docs/load-reference-script.ts', import.meta.url));
  const end = new AbortController();
  thread.once('exit', (code) => end.abort(new Error(`the thread ended with ${code} before its message`)));
  const [text] = (await once(thread, 'message', { signal: end.signal })) as [string];
  const plain = Buffer.from(text);
  return { plain, compressed: await promisify(gzip)(plain) };
}

/** Allows scripts of this host and the inline ones of the page. Styles cannot be as strict: Scalar adds them at run time. */
function policyOf(page: string): string {
  const inPage = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${inPage.join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
