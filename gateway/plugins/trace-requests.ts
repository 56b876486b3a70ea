import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import { isTracing, startRequest, type TracedWork } from '../../services/platform/tracing/tracing.ts';
import type { GatewayApp } from '../gateway-app.ts';

const SERVER_ERROR = 500;

/**
 * Starts a trace for each request. Ignores trace headers of clients, which would let them choose what is recorded.
 * Register it before other hooks.
 */
export function traceRequests(app: GatewayApp): void {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  const continueInSpan = (request: FastifyRequest, done: () => void) => {
    const span = spans.get(request);
    if (span) context.with(trace.setSpan(context.active(), span), done);
    else done();
  };
  app.addHook('onRequest', (request, _reply, done) => {
    const span = startRequest(request.id, () => describe(request));
    if (!span) return done();
    spans.set(request, span);
    continueInSpan(request, done);
  });
  // Restores the context: a body arrives in that of its connection.
  app.addHook('preValidation', (request, _reply, done) => continueInSpan(request, done));
  app.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (reply.statusCode >= SERVER_ERROR) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}

function describe({ method, routeOptions: { url: route } }: FastifyRequest): TracedWork {
  return {
    name: route === undefined ? method : `${method} ${route}`,
    kind: SpanKind.SERVER,
    attributes: { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }) },
  };
}
