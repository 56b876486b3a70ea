import { type AttemptResult, isSuccess } from '../deliveries/delivery.ts';
import { LATENCY_BOUNDS_MS, latencyClass } from './endpoint-latency.ts';

const SLOT_MS = 300_000;

interface Slot {
  succeeded: number;
  failed: number;
  readonly latencies: number[];
}

/** Results of the attempts of one generation of a subscription, counted until they are stored. */
export class EndpointTally {
  readonly #subscriptionId: string;
  readonly #generation: bigint;
  readonly #slots = new Map<number, Slot>();
  #succeeded = 0;
  #failed = 0;
  #lastSuccessAt: Date | undefined;
  /** The failures after the last success: the end of the first, and how the last one ended. */
  #failing: { readonly since: Date; readonly last: AttemptResult } | undefined;

  constructor(subscriptionId: string, generation: bigint) {
    this.#subscriptionId = subscriptionId;
    this.#generation = generation;
  }

  add(result: AttemptResult): void {
    const slot = this.#slotAt(result.endedAt);
    const { latencyMs, httpStatus } = result;
    if (httpStatus !== undefined && latencyMs !== undefined) slot.latencies[latencyClass(latencyMs)]! += 1;
    if (isSuccess(result)) {
      slot.succeeded += 1;
      this.#succeeded += 1;
      this.#lastSuccessAt = result.endedAt;
      this.#failing = undefined;
    } else {
      slot.failed += 1;
      this.#failed += 1;
      this.#failing = { since: this.#failing?.since ?? result.endedAt, last: result };
    }
  }

  /** Rows of webhooks.endpoint_slot, in chronological order. */
  slotRows() {
    return [...this.#slots]
      .sort(([a], [b]) => a - b)
      .map(([startsAtMs, slot]) => ({
        subscriptionId: this.#subscriptionId,
        generation: this.#generation,
        startsAt: new Date(startsAtMs),
        ...slot,
      }));
  }

  /**
   * A row of webhooks.endpoint_health. An endpoint that accepts most deliveries is not failing just because the last
   * attempt failed.
   */
  healthRow() {
    const isMostlyFailing = this.#failed >= this.#succeeded;
    const failing = isMostlyFailing ? this.#failing : undefined;
    return {
      subscriptionId: this.#subscriptionId,
      generation: this.#generation,
      lastSuccessAt: this.#lastSuccessAt,
      failingSince: failing?.since,
      httpStatus: failing?.last.httpStatus,
      failure: failing?.last.failure,
    };
  }

  #slotAt(at: Date): Slot {
    const startsAtMs = Math.floor(at.getTime() / SLOT_MS) * SLOT_MS;
    let slot = this.#slots.get(startsAtMs);
    if (!slot) {
      slot = { succeeded: 0, failed: 0, latencies: LATENCY_BOUNDS_MS.map(() => 0) };
      this.#slots.set(startsAtMs, slot);
    }
    return slot;
  }
}
