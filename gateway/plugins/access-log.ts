import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { Counter, Histogram } from 'prom-client';
import { withoutApiKeys } from '../../services/platform/api-key-format.ts';
import { metrics } from '../../services/platform/process/telemetry.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { pathOf } from '../problems/problem.ts';

const httpDuration = new Histogram({
  name: 'payments_http_duration_seconds',
  help: 'Duration of requests to the public API, by environment, operation and status.',
  labelNames: ['environment', 'operation', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});
/** Starts at 0 in each environment, so that the first failure of an operation is an increase for Prometheus. */
const httpFailures = new Counter({
  name: 'payments_http_failures_total',
  help: 'Requests to the public API that ended with a status from 500 on, by environment.',
  labelNames: ['environment'],
  registers: [metrics],
});

/**
 * Logs one line per completed request: caller, operation, outcome and duration. It never logs queries, bodies or
 * credentials, so it skips the logger's redaction.
 */
export class AccessLog extends LogController {
  readonly #logger: Logger;
  readonly #environment: EnvironmentName;
  readonly #durations = new Map<string, ReturnType<typeof httpDuration.labels>>();

  constructor(logger: Logger, environment: EnvironmentName) {
    super();
    this.#logger = logger.child({ environment }, { redact: [] });
    this.#environment = environment;
    httpFailures.inc({ environment }, 0);
  }

  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { operation } = request;
    const milliseconds = reply.elapsedTime;
    this.#durationOf(operation || 'none', reply.statusCode).observe(milliseconds / 1_000);
    if (reply.statusCode >= 500) httpFailures.inc({ environment: this.#environment });
    if (!this.#logger.isLevelEnabled('info')) return;
    this.#logger.info(
      {
        requestId: request.id,
        method: request.method,
        // Some clients put their API key where the id belongs.
        path: withoutApiKeys(pathOf(request.raw.url ?? '')),
        operation: operation || undefined,
        status: reply.statusCode,
        code: request.problemCode || undefined,
        milliseconds,
        merchantId: request.caller?.tenant.merchantId,
        apiKeyId: request.caller?.apiKeyId,
        err: error ?? undefined,
      },
      'request',
    );
  }

  /** The histogram child of an operation and status, cached because looking it up by labels is slower. */
  #durationOf(operation: string, status: number) {
    const key = `${operation} ${status}`;
    let duration = this.#durations.get(key);
    if (!duration) {
      duration = httpDuration.labels({ environment: this.#environment, operation, status });
      this.#durations.set(key, duration);
    }
    return duration;
  }

  /** Logs a request that failed before it reached a route. */
  requestRejected(
    requestId: string,
    fields: { status: number; code: string; reason?: string | undefined },
  ): void {
    this.#logger.info({ requestId, ...fields }, 'request');
  }
}
