import { type FastifyInstance, fastify } from 'fastify';
import { messageOf } from '../errors.ts';
import type { Drain } from './drain.ts';
import { metrics } from './telemetry.ts';

/** Whether the process can do its work, with details for /readyz. */
export interface Readiness {
  readonly ok: boolean;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface OpsServerOptions {
  /** Called on every /readyz; a rejection means "not ready". */
  readonly ready: () => Promise<Readiness>;
  /** Once it has begun, the process is not ready. Default: it never begins. */
  readonly drain?: Drain;
}

/**
 * Creates the internal operations server: /healthz (the process runs), /readyz (200 when the process can do its work,
 * otherwise 503; details as JSON) and /metrics. The caller starts listening.
 */
export function createOpsServer({ ready, drain }: OpsServerOptions): FastifyInstance {
  // Probes of a process that is shutting down need no response.
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.setNotFoundHandler((_request, reply) => reply.code(404).send({ status: 'not found' }));
  server.setErrorHandler<{ statusCode?: number }>(({ statusCode = 500 }, _request, reply) =>
    reply.code(statusCode).send({ status: statusCode < 500 ? 'bad request' : 'failed' }),
  );
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (drain?.hasBegun) return reply.code(503).send({ status: 'stopping' });
    const { ok, details } = await ready().catch(notReady);
    return reply.code(ok ? 200 : 503).send({ status: ok ? 'ready' : 'not ready', ...details });
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
  return server;
}

function notReady(error: unknown): Readiness {
  return { ok: false, details: { error: messageOf(error) } };
}
