import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import scalar, { type ApiReferenceConfiguration } from '@scalar/fastify-api-reference';
import type { FastifyReply } from 'fastify';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { Problem } from '../problems/problem.ts';

/** Where the reference is read; the page itself is one slash further. */
const DOCS_PATH = '/docs';

/** Scalar, with everything off that calls another host: its fonts, telemetry, assistants and products. */
const CONFIGURATION: Partial<ApiReferenceConfiguration> = {
  pageTitle: 'Merchant Payments API',
  url: '/openapi.json',
  // Trying calls the host that the page came from, the only one that its policy lets it reach.
  servers: [{ url: '/' }],
  documentDownloadType: 'direct',
  favicon: 'data:,',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
};

const INLINE_SCRIPT = /<script type="text\/javascript">(.*?)<\/script>/gs;
const ACCEPTS_GZIP = /\bgzip\b(?! *; *q=0(\.0*)? *(,|$))/i;

/** Serves the reference that is read in a browser and tried there. It needs no key and no other host. */
export function serveDocs(app: GatewayApp, { access }: Pick<RouteDependencies, 'access'>): void {
  app.register(async (docs) => {
    docs.addHook('onRequest', (request, _reply, done) => {
      // Scalar reads it as a URL; a trusted proxy may hand on any X-Forwarded-Host.
      if (!URL.canParse(`${request.protocol}://${request.hostname}`)) {
        throw new Problem('INVALID_REQUEST', 'Header Host must name a host.');
      }
      done();
    });
    const script = onceEncoded();
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
    await docs.register(scalar, {
      routePrefix: DOCS_PATH,
      hooks: { onRequest: access.open('readDocs') },
      configuration: CONFIGURATION,
    });
  });
}

function isPage(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html');
}

/**
 * The script is megabytes of text that never change: encoded once, and every answer sends the same bytes, so that
 * clients which do not read theirs fill no memory.
 */
function onceEncoded() {
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

/** Only scripts of this host and those in the page run. Styles cannot be so strict: Scalar writes them as it runs. */
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
