import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import type { AttemptSend } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentGuards } from '../../services/platform/egress/environment-guards.ts';
import { metrics } from '../../services/platform/process/telemetry.ts';
import { ENVIRONMENTS, environmentName } from '../../services/platform/tenant.ts';
import { attemptDuration } from './delivery-metrics.ts';
import { type AttemptRecord, isDelivered, sendAttempt } from './send-attempt.ts';

/** An attempt that this process has started, and whose end is not yet reported. */
export interface OpenAttempt {
  readonly deliveryId: string;
  readonly attemptNumber: number;
  readonly generation: bigint;
  readonly startedAt: Date;
  /** It ends by then. */
  readonly deadlineAt: Date;
  /** Never rejects. */
  readonly ended: Promise<AttemptRecord>;
}

export interface OpenAttemptsOptions {
  readonly guards: EnvironmentGuards;
  readonly logger: Logger;
  /** Bounds memory and sockets: at this limit the dispatcher claims no more. */
  readonly limit: number;
  readonly attemptTimeoutMs: number;
}

const openGauge = new Gauge({
  name: 'payments_webhook_attempts_open',
  help: 'Attempts under way, or ended and not yet reported.',
  registers: [metrics],
});
const endedCounter = new Counter({
  name: 'payments_webhook_attempts_total',
  help: 'Attempts that ended, by environment and outcome: delivered, a class of HTTP status, or a failure.',
  labelNames: ['environment', 'outcome'],
  registers: [metrics],
});
for (const environment of ENVIRONMENTS) endedCounter.inc({ environment, outcome: 'delivered' }, 0);

/**
 * The attempts of this process, from the start of the request until its report is accepted. An attempt that a retried
 * activity asks for meanwhile is joined and not sent again.
 */
export class OpenAttempts {
  readonly #options: OpenAttemptsOptions;
  readonly #open = new Map<string, OpenAttempt>();
  readonly #stop = new AbortController();
  #reserved = 0;

  constructor(options: OpenAttemptsOptions) {
    this.#options = options;
  }

  /** How many more may start; 0 or less when this process is full. */
  get capacity(): number {
    return this.#options.limit - this.#open.size - this.#reserved;
  }

  /**
   * Reserves capacity for attempts about to start, so that two concurrent callers do not both use it.
   * @returns releases the reservation.
   */
  reserve(count: number): () => void {
    this.#reserved += count;
    return () => {
      this.#reserved -= count;
    };
  }

  /** Sends, or joins the same attempt if it has started. */
  start(deliveryId: string, order: AttemptSend): OpenAttempt {
    const { attemptNumber, generation } = order;
    const key = keyOf({ deliveryId, attemptNumber });
    const open = this.#open.get(key);
    if (open) return open;
    const startedAt = new Date();
    const deadlineAt = new Date(startedAt.getTime() + this.#options.attemptTimeoutMs);
    const ended = this.#send(order, startedAt);
    const attempt = { deliveryId, attemptNumber, generation, startedAt, deadlineAt, ended };
    this.#open.set(key, attempt);
    openGauge.inc();
    return attempt;
  }

  /** Removes an attempt whose end is reported, or never will be. */
  close(attempt: OpenAttempt): void {
    if (this.#open.delete(keyOf(attempt))) openGauge.dec();
  }

  /** Resolves when no attempt is open or about to start, or when the time is up. */
  async drain(timeoutMs: number): Promise<void> {
    const giveUpAt = performance.now() + timeoutMs;
    while (this.#open.size + this.#reserved > 0 && performance.now() < giveUpAt) await delay(20);
  }

  /** Aborts open attempts and those that would still start; they end as ABORTED. */
  abort(): void {
    this.#stop.abort();
  }

  async #send(order: AttemptSend, startedAt: Date): Promise<AttemptRecord> {
    const environment = environmentName(order.environment);
    const { guards, logger, attemptTimeoutMs } = this.#options;
    const record = await sendAttempt(
      { guard: guards[environment], totalTimeoutMs: attemptTimeoutMs, now: () => startedAt },
      {
        poolKey: order.subscriptionId,
        url: order.url,
        webhookId: order.eventId,
        body: order.body,
        secrets: order.signingSecrets,
      },
      this.#stop.signal,
    ).catch((error: unknown): AttemptRecord => {
      // A bug on our side; the delivery follows its schedule all the same.
      logger.error({ err: error, eventId: order.eventId }, 'an attempt could not be made');
      return { startedAt, latencyMs: 0, failureKind: 'PROTOCOL' };
    });
    endedCounter.inc({ environment, outcome: outcomeOf(record) });
    attemptDuration.observe({ environment }, record.latencyMs / 1_000);
    return record;
  }
}

function outcomeOf(record: AttemptRecord): string {
  if (isDelivered(record)) return 'delivered';
  return record.failureKind ?? `${Math.floor(record.httpStatus / 100)}xx`;
}

const keyOf = ({ deliveryId, attemptNumber }: Pick<OpenAttempt, 'deliveryId' | 'attemptNumber'>) =>
  `${deliveryId} ${attemptNumber}`;
