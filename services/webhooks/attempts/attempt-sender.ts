import type { Logger } from 'pino';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { EnvironmentGuards } from '../../platform/egress/environment-guards.ts';
import { metrics } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';
import { type AttemptResult, isSuccess } from '../deliveries/delivery.ts';
import { type Attempt, sendAttempt } from './send-attempt.ts';
import { traceAttempt } from './trace-attempt.ts';

const openGauge = new Gauge({
  name: 'payments_webhook_attempts_open',
  help: 'Attempts under way, or ended and not yet recorded.',
  registers: [metrics],
});
const endedCounter = new Counter({
  name: 'payments_webhook_attempts_total',
  help: 'Attempts that ended, by environment and outcome: delivered, a class of HTTP status, or a failure.',
  labelNames: ['environment', 'outcome'],
  registers: [metrics],
});
const duration = new Histogram({
  name: 'payments_webhook_attempt_duration_seconds',
  help: 'Time from the begin of an attempt to the end of its answer, by environment.',
  labelNames: ['environment'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  registers: [metrics],
});
for (const environment of ENVIRONMENTS) endedCounter.inc({ environment, outcome: 'delivered' }, 0);

/** Counts an attempt as open until the returned function is called. */
export function countOpen(): () => void {
  openGauge.inc();
  return () => openGauge.dec();
}

/** The delivery of an attempt, for the log, the metrics and the trace. */
interface SentDelivery {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  /** The number of earlier attempts. */
  readonly attempt_count: number;
  readonly body: string;
}

/** Makes attempts. Closing it aborts those in flight. */
export class AttemptSender {
  readonly #guards: EnvironmentGuards;
  readonly #logger: Logger;
  readonly #stop = new AbortController();

  constructor(guards: EnvironmentGuards, logger: Logger) {
    this.#guards = guards;
    this.#logger = logger;
  }

  /** Makes one attempt of a delivery. Never rejects. */
  send(delivery: SentDelivery, attempt: Attempt): Promise<AttemptResult> {
    return traceAttempt(delivery, attempt, () => this.#send(delivery, attempt));
  }

  async #send(
    { id: deliveryId, merchant_id: merchantId, environment }: SentDelivery,
    attempt: Attempt,
  ): Promise<AttemptResult> {
    const guard = this.#guards[environment];
    const result = await sendAttempt({ guard }, attempt, this.#stop.signal).catch(
      (error: unknown): AttemptResult => {
        // A bug on our side; the delivery still follows its schedule.
        const { eventId, subscriptionId } = attempt;
        const facts = { deliveryId, eventId, subscriptionId, merchantId, environment };
        this.#logger.error({ ...facts, err: error }, 'an attempt could not be made');
        return { endedAt: attempt.startedAt, latencyMs: 0, failure: 'PROTOCOL' };
      },
    );
    endedCounter.inc({ environment, outcome: outcomeOf(result) });
    duration.observe({ environment }, (result.latencyMs ?? 0) / 1_000);
    return result;
  }

  /** Aborts the attempts in flight. */
  abort(): void {
    this.#stop.abort();
  }
}

function outcomeOf(result: AttemptResult): string {
  if (isSuccess(result)) return 'delivered';
  return result.failure ?? `${Math.floor(result.httpStatus! / 100)}xx`;
}
