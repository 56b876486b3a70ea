import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { callFor } from '../clients.ts';
import { DOCUMENT_PATHS, GUIDE_LANGUAGES, type GuideLanguage } from '../docs/languages.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import type { OperationSchema } from '../routes/operation.ts';
import type { ApiHost } from './api-host.ts';
import { openApiDocument } from './document.ts';
import type { RoutedOperation } from './operations.ts';

interface ServedDocument {
  readonly body: Buffer;
  readonly etag: string;
}

interface OpenApiOptions extends RouteDependencies {
  readonly host: () => ApiHost;
}

/** Collects every operation that is added from now on. */
export function collectOperations(app: GatewayApp): readonly RoutedOperation[] {
  const operations: RoutedOperation[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    // Fastify adds a HEAD route to each GET; it is not a separate operation.
    if (schema && 'operationId' in schema && method !== 'HEAD') {
      operations.push({ method: String(method), url, schema: schema as OperationSchema });
    }
  });
  return operations;
}

/**
 * GET /openapi.json, and the same document with the guides in another language. Fetches the event catalog on the first
 * request of each, then caches the document.
 */
export function serveOpenApi(
  app: GatewayApp,
  operations: readonly RoutedOperation[],
  options: OpenApiOptions,
): void {
  for (const language of GUIDE_LANGUAGES) serveDocument(app, operations, language, options);
}

function serveDocument(
  app: GatewayApp,
  operations: readonly RoutedOperation[],
  language: GuideLanguage,
  { access, clients, host }: OpenApiOptions,
): void {
  let served: ServedDocument | undefined;
  const build = async (request: FastifyRequest): Promise<ServedDocument> => {
    const { eventTypes } = await clients.events.listEventTypes({}, callFor(request));
    const document = openApiDocument({ host: host(), operations, eventTypes, language });
    const body = Buffer.from(JSON.stringify(document));
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
  };
  app.route({
    // HEAD is explicit, because the HEAD that Fastify adds to a GET sends Content-Length: 0 with a 304.
    method: ['GET', 'HEAD'],
    url: DOCUMENT_PATHS[language],
    onRequest: access.open('readOpenApi'),
    handler: async (request, reply) => {
      served ??= await build(request);
      reply.headers({ 'cache-control': 'public, max-age=300', etag: served.etag });
      if (matchesTag(request.headers['if-none-match'], served.etag)) return reply.code(304).send();
      return reply.type('application/json; charset=utf-8').send(served.body);
    },
  });
}

/** Whether If-None-Match matches the tag; compares weakly (RFC 9110), since caches weaken tags when they compress. */
function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch?.trim() === '*') return true;
  return ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false;
}
