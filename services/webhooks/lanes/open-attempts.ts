import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { EnvironmentGuards } from '../../platform/egress/environment-guards.ts';
import { metrics } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS } from '../../platform/tenant.ts';
import { Exchange } from '../attempts/exchange.ts';
import { ABORTED, type Attempt, sendAttempt } from '../attempts/send-attempt.ts';
import {
  type AttemptResult,
  isSuccess,
  type LaneEpoch,
  type ReportedAttempt,
} from '../deliveries/delivery.ts';
import { deliveryLogFields } from '../deliveries/delivery-log-fields.ts';
import { observeFirstAttempt } from '../dispatch/dispatch-metrics.ts';
import type { QueuedDelivery } from './delivery-reader.ts';
import type { LaneLeases } from './lane-leases.ts';
import { nameRecordWorkflows } from './record-workflows.ts';
import type { ReportBuffer } from './report-buffer.ts';
import type { LaneSubscription } from './subscription-cache.ts';
import type { SubscriptionQueue } from './subscription-queue.ts';
import type { TableReads } from './table-reads.ts';
import { traceAttempt } from './trace-attempt.ts';

/** Attempts in flight in one process, each of which takes about 100 KB with TLS. */
const MAX_OPEN = 2_000;
/** An attempt that takes longer is recorded as in flight, and its retry workflow started. */
const RECORD_AFTER_MS = 1_500;

const openGauge = new Gauge({
  name: 'payments_webhook_attempts_open',
  help: 'Attempts in flight, or ended and not yet recorded.',
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
  help: 'Time from the start of an attempt to the end of its response, by environment.',
  labelNames: ['environment'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  registers: [metrics],
});
for (const environment of ENVIRONMENTS) endedCounter.inc({ environment, outcome: 'delivered' }, 0);

interface OpenAttempt {
  readonly delivery: QueuedDelivery;
  /** As it was when the attempt began. */
  readonly subscription: LaneSubscription;
  readonly queue: SubscriptionQueue;
  readonly owner: LaneEpoch;
  /** Called when the attempt has ended, and again when its result is recorded. */
  readonly onFreed: () => void;
  readonly startedAt: Date;
  readonly startedAtMs: number;
  /** Its position in the list of open attempts; undefined once it is closed. */
  index: number | undefined;
  /** Until the response has ended. */
  exchange: Exchange | undefined;
  /** Whether its result was reported, or that it is in flight: once the latter is recorded, any process may report its end. */
  isReported: boolean;
}

export interface OpenAttemptsDeps {
  readonly leases: Pick<LaneLeases, 'ownerId' | 'epochOf'>;
  readonly guards: EnvironmentGuards;
  readonly reports: ReportBuffer;
  readonly reads: TableReads;
  readonly logger: Logger;
}

/**
 * The attempts of this process from their start until their result is recorded or set aside.
 *
 * They are in an array, and not listeners of an AbortSignal, because a Map and a list of listeners would keep them with
 * their bodies: V8 leaves the entries of a table that a Map has outgrown, and what a removed listener refers to, until the
 * next full garbage collection.
 */
export class OpenAttempts {
  readonly #deps: OpenAttemptsDeps;
  /** In no order: the last attempt takes the place of one that is closed. */
  readonly #open: OpenAttempt[] = [];
  readonly #recordWorkflowIn: ReturnType<typeof nameRecordWorkflows>;

  constructor(deps: OpenAttemptsDeps) {
    this.#deps = deps;
    this.#recordWorkflowIn = nameRecordWorkflows(deps.leases.ownerId);
  }

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  get isFull(): boolean {
    return this.#open.length >= MAX_OPEN;
  }

  /** The ids of deliveries with an open attempt. */
  get ids(): string[] {
    return this.#open.map(({ delivery }) => delivery.id);
  }

  /** Starts the next attempt of a delivery. */
  start(
    subscription: LaneSubscription,
    queue: SubscriptionQueue,
    delivery: QueuedDelivery,
    onFreed: () => void,
  ): void {
    const epoch = this.#deps.leases.epochOf(subscription.lane)!;
    const attempt: OpenAttempt = {
      delivery,
      subscription,
      queue,
      owner: { lane: subscription.lane, epoch },
      onFreed,
      startedAt: new Date(),
      startedAtMs: performance.now(),
      index: this.#open.length,
      exchange: undefined,
      isReported: false,
    };
    this.#open.push(attempt);
    queue.started(delivery, subscription, attempt.startedAtMs);
    if (delivery.attempt_count === 0 && !delivery.resent)
      observeFirstAttempt(delivery.environment, delivery.event_id);
    void this.#make(attempt);
  }

  /** Records all attempts of these lanes as in flight. */
  recordInFlight(lanes: readonly number[]): void {
    for (const attempt of this.#open) if (lanes.includes(attempt.owner.lane)) this.#recordInFlight(attempt);
  }

  /** Records attempts that take long as in flight. */
  recordLong(): void {
    const beforeMs = performance.now() - RECORD_AFTER_MS;
    for (const attempt of this.#open) if (attempt.startedAtMs <= beforeMs) this.#recordInFlight(attempt);
  }

  /** Resolves when the results of all attempts are recorded or set aside, or at that time by `performance.now()`. */
  async untilRecorded(atMs: number): Promise<void> {
    while (this.#open.length > 0 && performance.now() < atMs) await delay(20);
  }

  /** Aborts the attempts in flight. */
  abort(): void {
    for (const { exchange } of this.#open) exchange?.stop(ABORTED);
  }

  #recordInFlight(attempt: OpenAttempt): void {
    if (attempt.isReported) return;
    attempt.isReported = true;
    this.#deps.reports.add(this.#reportOf(attempt));
  }

  async #make(attempt: OpenAttempt): Promise<void> {
    const { delivery, subscription, queue, onFreed } = attempt;
    openGauge.inc();
    const result = await this.#send(attempt, {
      subscriptionId: subscription.id,
      url: subscription.url,
      eventId: delivery.event_id,
      body: Buffer.from(delivery.body),
      keys: subscription.keysAt(Date.now()),
      startedAt: attempt.startedAt,
    });
    // undici keeps the connection busy until the next turn of the event loop: an attempt that began now would open another.
    await setImmediate();
    queue.limiter.ended(delivery.id, isSuccess(result), subscription);
    const onRecorded = (isRecorded: boolean) => {
      this.#close(attempt);
      // After a failure, the next attempt may have been requested since; a success has ended the delivery.
      const isOpen = isRecorded && !isSuccess(result);
      this.#deps.reads.outdate(delivery.id, isOpen ? delivery.attempt_count + 1 : undefined);
      queue.forget(delivery.id);
      if (!isRecorded && this.#isTakenAgain(attempt.owner)) queue.leftInTable();
      onFreed();
    };
    const isUrgent = !isSuccess(result) || delivery.status !== 'PENDING' || delivery.ordered;
    // Reporting it to be in flight after its result would make the buffer forget a result that is set aside.
    attempt.isReported = true;
    // A result that is set aside stays known to its queue, so that the delivery is not read and sent again.
    this.#deps.reports.add(this.#reportOf(attempt, result), {
      onRecorded,
      onSetAside: () => this.#close(attempt),
      isUrgent,
    });
    onFreed();
  }

  #close(attempt: OpenAttempt): void {
    const { index } = attempt;
    if (index === undefined) return;
    attempt.index = undefined;
    const last = this.#open.pop()!;
    if (last !== attempt) {
      this.#open[index] = last;
      last.index = index;
    }
    openGauge.dec();
  }

  /** Whether the lane was lost and taken again: reading it skipped the delivery, which was still known. */
  #isTakenAgain({ lane, epoch }: LaneEpoch): boolean {
    const current = this.#deps.leases.epochOf(lane);
    return current !== undefined && current !== epoch;
  }

  /** Never rejects. */
  async #send(open: OpenAttempt, attempt: Attempt): Promise<AttemptResult> {
    const { delivery } = open;
    const exchange = new Exchange();
    open.exchange = exchange;
    const { environment } = delivery;
    const { guards, logger } = this.#deps;
    const result = await traceAttempt(delivery, () =>
      sendAttempt(guards[environment], attempt, exchange).catch((error: unknown): AttemptResult => {
        // A bug on our side; the delivery still follows its schedule.
        logger.error({ ...deliveryLogFields(delivery), err: error }, 'an attempt could not be made');
        return { endedAt: attempt.startedAt, latencyMs: 0, failure: 'PROTOCOL' };
      }),
    );
    open.exchange = undefined;
    endedCounter.inc({ environment, outcome: outcomeOf(result) });
    duration.observe({ environment }, (result.latencyMs ?? 0) / 1_000);
    return result;
  }

  #reportOf(
    { delivery, subscription, owner, startedAt }: OpenAttempt,
    result?: AttemptResult,
  ): ReportedAttempt {
    const succeeded = result !== undefined && isSuccess(result);
    return {
      deliveryId: delivery.id,
      number: delivery.attempt_count + 1,
      generation: subscription.generation,
      owner,
      workflowId: succeeded ? this.#recordWorkflowIn(delivery.environment) : undefined,
      startedAt,
      result,
    };
  }
}

function outcomeOf(result: AttemptResult): string {
  if (isSuccess(result)) return 'delivered';
  return result.failure ?? `${Math.floor(result.httpStatus! / 100)}xx`;
}
