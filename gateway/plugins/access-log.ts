import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { Histogram } from 'prom-client';
import { withoutApiKeys } from '../../services/platform/api-key-format.ts';
import { metrics } from '../../services/platform/process/telemetry.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { pathOf } from '../problems/problem.ts';

const httpDuration = new Histogram({
  name: 'payments_http_duration_seconds',
  help: 'Time a request to the public API took, by environment, operation and status.',
  labelNames: ['environment', 'operation', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});

/**
 * One line per request, when it has been answered: who, what, how it ended and how long it took. Queries, bodies and
 * credentials are never in it, so it does without the logger's redaction.
 */
export class AccessLog extends LogController {
  readonly #logger: Logger;
  readonly #environment: EnvironmentName;
  readonly #durations = new Map<string, ReturnType<typeof httpDuration.labels>>();

  constructor(logger: Logger, environment: EnvironmentName) {
    super();
    this.#logger = logger.child({ environment }, { redact: [] });
    this.#environment = environment;
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
    if (!this.#logger.isLevelEnabled('info')) return;
    this.#logger.info(
      {
        requestId: request.id,
        method: request.method,
        // Some send their key where the id belongs.
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

  /** Where a kind of answer's time is counted; finding it by its labels each time would cost more. */
  #durationOf(operation: string, status: number) {
    const kind = `${operation} ${status}`;
    let duration = this.#durations.get(kind);
    if (!duration) {
      duration = httpDuration.labels({ environment: this.#environment, operation, status });
      this.#durations.set(kind, duration);
    }
    return duration;
  }

  /** The line of a request that ended before it reached any route. */
  refusedEarly(
    requestId: string,
    fields: { status: number; code: string; reason?: string | undefined },
  ): void {
    this.#logger.info({ requestId, ...fields }, 'request');
  }
}
