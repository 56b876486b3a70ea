import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import type { OperationSchema } from '../routes/operation.ts';
import { openApiDocument } from './document.ts';
import type { Listener } from './listener.ts';
import type { RoutedOperation } from './operations.ts';

interface Served {
  readonly body: Buffer;
  readonly etag: string;
}

interface OpenApiOptions extends RouteDependencies {
  readonly listener: () => Listener;
}

/** Notes every operation that is routed from now on. */
export function collectOperations(app: GatewayApp): readonly RoutedOperation[] {
  const operations: RoutedOperation[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    // A GET brings a HEAD with it, which is no operation of its own.
    if (schema && 'operationId' in schema && method !== 'HEAD') {
      operations.push({ method: String(method), url, schema: schema as OperationSchema });
    }
  });
  return operations;
}

/** GET /openapi.json. The catalogue of events is asked for until it is known; the document is written once. */
export function serveOpenApi(
  app: GatewayApp,
  operations: readonly RoutedOperation[],
  { access, clients, listener }: OpenApiOptions,
): void {
  let served: Served | undefined;
  const write = async (request: FastifyRequest): Promise<Served> => {
    const { eventTypes } = await clients.events.listEventTypes({}, callFor(request));
    const document = openApiDocument({ listener: listener(), operations, eventTypes });
    const body = Buffer.from(JSON.stringify(document));
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
  };
  app.route({
    // Named, because the HEAD that Fastify adds to a GET claims that what a 304 stands for is empty.
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    onRequest: access.open('readOpenApi'),
    handler: async (request, reply) => {
      served ??= await write(request);
      reply.headers({ 'cache-control': 'public, max-age=300', etag: served.etag });
      if (names(request.headers['if-none-match'], served.etag)) return reply.code(304).send();
      return reply.type('application/json; charset=utf-8').send(served.body);
    },
  });
}

/** Whether an If-None-Match names a tag; one that a cache has made weak by compressing counts, as RFC 9110 has it. */
function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch?.trim() === '*') return true;
  return ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false;
}
