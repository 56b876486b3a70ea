import { ATTEMPT_TIMEOUT_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { RecordedDelivery } from '../attempts/attempt-recorder.ts';
import { type AttemptSender, countOpen } from '../attempts/attempt-sender.ts';
import { isSuccess, type LaneEpoch, type ReportedAttempt } from '../deliveries/delivery.ts';
import { observeFirstAttempt } from '../dispatch/dispatch-metrics.ts';
import type { QueuedDelivery } from './delivery-reader.ts';
import type { LaneLeases } from './lane-leases.ts';
import { RecordWorkflows } from './record-workflows.ts';
import type { ResultRecorder } from './result-recorder.ts';
import type { LaneSubscription } from './subscription-cache.ts';
import type { SubscriptionQueue } from './subscription-queue.ts';
import type { TableLooks } from './table-looks.ts';

/** Attempts in flight in one process, each of which takes about 100 KB with TLS. */
const MAX_OPEN = 2_000;
/** An attempt that takes longer is recorded as in flight, and its retry workflow started. */
const RECORD_AFTER_MS = 1_500;

interface OpenAttempt {
  readonly delivery: QueuedDelivery;
  readonly generation: bigint;
  readonly owner: LaneEpoch;
  readonly startedAt: Date;
  readonly startedAtMs: number;
  /** Whether it is being recorded as in flight. */
  reported: boolean;
  /** Whether it is recorded as in flight, so that any process may report its end. */
  recorded: boolean;
}

export interface OpenAttemptsDeps {
  readonly leases: Pick<LaneLeases, 'ownerId' | 'epochOf'>;
  readonly sender: AttemptSender;
  readonly recorder: ResultRecorder;
  readonly looks: TableLooks;
  /** Called when a retry workflow was added to the outbox. */
  readonly onCommand: () => void;
}

/** The attempts of this process from their start until their result is recorded. */
export class OpenAttempts {
  readonly #deps: OpenAttemptsDeps;
  readonly #open = new Map<string, OpenAttempt>();
  readonly #workflows: RecordWorkflows;

  constructor(deps: OpenAttemptsDeps) {
    this.#deps = deps;
    this.#workflows = new RecordWorkflows(deps.leases.ownerId);
  }

  get count(): number {
    return this.#open.size;
  }

  get isFull(): boolean {
    return this.#open.size >= MAX_OPEN;
  }

  /** The ids of deliveries with an open attempt. */
  get ids(): string[] {
    return [...this.#open.keys()];
  }

  /**
   * Starts the next attempt of a delivery.
   * @param onFreed called when the attempt has ended, and again when its result is recorded.
   */
  start(
    subscription: LaneSubscription,
    queue: SubscriptionQueue,
    delivery: QueuedDelivery,
    onFreed: () => void,
  ): void {
    const epoch = this.#deps.leases.epochOf(subscription.lane)!;
    const attempt: OpenAttempt = {
      delivery,
      generation: subscription.generation,
      owner: { lane: subscription.lane, epoch },
      startedAt: new Date(),
      startedAtMs: performance.now(),
      reported: false,
      recorded: false,
    };
    this.#open.set(delivery.id, attempt);
    queue.started(delivery, attempt.startedAtMs);
    if (delivery.attempt_count === 0 && !delivery.resent) observeFirstAttempt(delivery);
    void this.#make(subscription, queue, attempt, onFreed);
  }

  /**
   * Records attempts that take long as in flight. @param lanes records those of these lanes only, however long they
   * take.
   */
  recordInFlight(lanes?: ReadonlySet<number>): void {
    const nowMs = performance.now();
    for (const attempt of this.#open.values()) {
      if (attempt.reported) continue;
      const due = lanes ? lanes.has(attempt.owner.lane) : nowMs - attempt.startedAtMs >= RECORD_AFTER_MS;
      if (!due) {
        // Attempts are in the order of their start, so the rest are younger.
        if (lanes) continue;
        return;
      }
      attempt.reported = true;
      const deadlineAt = new Date(attempt.startedAt.getTime() + ATTEMPT_TIMEOUT_MS);
      const onRecorded = (recorded: RecordedDelivery | undefined) => {
        attempt.recorded = recorded !== undefined;
        this.#deps.onCommand();
      };
      this.#deps.recorder.add(this.#reportOf(attempt, { deadlineAt }), { onRecorded });
    }
  }

  async #make(
    subscription: LaneSubscription,
    queue: SubscriptionQueue,
    attempt: OpenAttempt,
    onFreed: () => void,
  ): Promise<void> {
    const { delivery } = attempt;
    const closed = countOpen();
    const result = await this.#deps.sender.send(delivery, {
      subscriptionId: subscription.id,
      url: subscription.url,
      eventId: delivery.event_id,
      body: Buffer.from(delivery.body),
      secrets: subscription.secretsAt(Date.now()),
      startedAt: attempt.startedAt,
    });
    queue.ended(delivery.id, isSuccess(result), subscription);
    const close = () => {
      if (this.#open.delete(delivery.id)) closed();
    };
    const onRecorded = (recorded: RecordedDelivery | undefined) => {
      close();
      this.#deps.looks.outdate(delivery.id);
      queue.forget(delivery.id);
      if (recorded?.status === 'RETRYING') this.#deps.onCommand();
      onFreed();
    };
    const isPatient = isSuccess(result) && delivery.status === 'PENDING' && !delivery.ordered;
    // A result that is set aside stays known to its queue, so that the delivery is not read and sent again.
    this.#deps.recorder.add(this.#reportOf(attempt, { result }), {
      onRecorded,
      onSetAside: close,
      isPatient,
    });
    onFreed();
  }

  #reportOf(attempt: OpenAttempt, outcome: ReportedAttempt['outcome']): ReportedAttempt {
    const { delivery, generation, owner, startedAt } = attempt;
    const succeeded = 'result' in outcome && isSuccess(outcome.result);
    return {
      deliveryId: delivery.id,
      number: delivery.attempt_count + 1,
      generation,
      owner: attempt.recorded && 'result' in outcome ? undefined : owner,
      workflowId: succeeded ? this.#workflows.idFor(delivery.environment) : undefined,
      startedAt,
      outcome,
    };
  }
}
