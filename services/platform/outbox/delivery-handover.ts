import type { Tenant } from '../tenant.ts';

/** A delivery that a publication has added: its state when it was committed. */
export interface CommittedDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly generation: bigint;
  readonly ordered: boolean;
  readonly status: 'PENDING' | 'HELD' | 'BLOCKED';
}

/** An event that was committed, with its deliveries. */
export interface CommittedEvent extends Tenant {
  readonly id: string;
  readonly objectId: string;
  /** What is signed and sent. */
  readonly body: string;
  readonly deliveries: readonly CommittedDelivery[];
}

/** A publication in progress, as seen by the one that may take its deliveries. */
export interface Taking {
  /** @returns whether it took all deliveries; it finds the others when it next reads the table. */
  take(events: readonly CommittedEvent[]): boolean;
  end(): void;
}

/**
 * Hands what this process publishes to the lanes of this process, if it runs them: they need not read it from the table,
 * and nobody else has to be notified.
 */
export class DeliveryHandover {
  #begin: (() => Taking) | undefined;

  /** Takes deliveries from now on. @returns a function that ends it. */
  takeWith(begin: () => Taking): () => void {
    this.#begin = begin;
    return () => {
      this.#begin = undefined;
    };
  }

  /** Call this before a publication; undefined if nobody takes its deliveries. */
  begin(): Taking | undefined {
    return this.#begin?.();
  }
}
