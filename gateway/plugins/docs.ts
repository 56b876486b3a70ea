import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import scalar, { type ApiReferenceConfiguration } from '@scalar/fastify-api-reference';
import type { FastifyReply } from 'fastify';
import { DOCUMENT_PATHS, GUIDE_LANGUAGES, headingId, REFERENCE_PATHS } from '../docs/languages.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { Problem } from '../problems/problem.ts';

/** Tables with columns as wide as their words and headings, where the page has room for them. */
const TABLE_STYLE = `@media (min-width: 1000px) {
.scalar-app .markdown table { table-layout: auto }
.scalar-app .markdown :is(th, td) { word-break: normal }
.scalar-app .markdown :is(th, td code) { white-space: nowrap }
}`;

/** Scalar with everything disabled that calls another host: fonts, telemetry, assistants and product links. */
const CONFIGURATION: Partial<ApiReferenceConfiguration> = {
  pageTitle: 'Merchant Payments API',
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
  // The script is the same for every language.
  cdn: `${REFERENCE_PATHS.en}/js/scalar.js`,
};

const INLINE_SCRIPT = /<script type="text\/javascript">(.*?)<\/script>/gs;
const ACCEPTS_GZIP = /\bgzip\b(?! *; *q=0(\.0*)? *(,|$))/i;

/** Serves the interactive API reference, with the guides in each language. It requires no API key and loads nothing from other hosts. */
export function serveDocs(app: GatewayApp, { access }: Pick<RouteDependencies, 'access'>): void {
  app.register(async (docs) => {
    docs.addHook('onRequest', (request, _reply, done) => {
      // Scalar parses the host as a URL, and a trusted proxy may pass on any X-Forwarded-Host.
      if (!URL.canParse(`${request.protocol}://${request.hostname}`)) {
        throw new Problem('INVALID_REQUEST', 'Header Host must name a host.');
      }
      done();
    });
    const script = encodeOnce();
    docs.addHook('onSend', async ({ headers }, reply, payload) => {
      if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
      reply.header('cache-control', 'public, max-age=300').header('vary', 'accept-encoding');
      if (isPage(reply)) {
        reply.header('content-security-policy', policyOf(payload));
        return payload;
      }
      if (!ACCEPTS_GZIP.test(headers['accept-encoding'] ?? '')) return script.plain(payload);
      reply.header('content-encoding', 'gzip');
      return script.compressed(payload);
    });
    for (const language of GUIDE_LANGUAGES) {
      await docs.register(scalar, {
        routePrefix: REFERENCE_PATHS[language],
        hooks: { onRequest: access.open('readDocs') },
        configuration: { ...CONFIGURATION, url: DOCUMENT_PATHS[language] },
      });
    }
  });
}

function isPage(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html');
}

/**
 * The script is several megabytes and never changes. It is encoded once and every response shares the bytes, so clients
 * that do not read their response take no memory.
 */
function encodeOnce() {
  let plain: Buffer | undefined;
  let compressed: Promise<Buffer> | undefined;
  return {
    plain: (text: string) => {
      plain ??= Buffer.from(text);
      return plain;
    },
    compressed: (text: string) => {
      compressed ??= promisify(gzip)(text);
      return compressed;
    },
  };
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
