import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { Counter, Histogram } from 'prom-client';
import { metrics } from '../../services/platform/process/telemetry.ts';
import { isStreamRequest } from './shell/live.ts';

const pageDuration = new Histogram({
  name: 'payments_dashboard_duration_seconds',
  help: 'Duration of requests to the dashboard, by route, method and status.',
  labelNames: ['route', 'method', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [metrics],
});
/** Starts at 0, so that the first failure of a page is an increase for Prometheus. */
const pageFailures = new Counter({
  name: 'payments_dashboard_failures_total',
  help: 'Requests to the dashboard that ended with a status from 500 on.',
  registers: [metrics],
});

/** Logs one line per completed request. Queries, forms, cookies and responses are never logged. */
export class DashboardLog extends LogController {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger.child({ dashboard: true });
  }

  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const milliseconds = reply.elapsedTime;
    const route = request.routeOptions.url ?? 'none';
    // A stream stays open as long as the page does.
    if (!isStreamRequest(request)) {
      if (reply.statusCode >= 500) pageFailures.inc();
      pageDuration.observe({ route, method: request.method, status: reply.statusCode }, milliseconds / 1_000);
    }
    this.#logger.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        milliseconds,
        accountId: request.person?.accountId,
        merchantId: request.view?.merchantId,
        environment: request.view?.environment,
        err: error ?? undefined,
      },
      'page',
    );
  }
}
