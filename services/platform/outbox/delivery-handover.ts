import type { Tenant } from '../tenant.ts';

/** A delivery that a publication has added, as committed. */
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

/** A publication in progress, as seen by the lanes that may take its deliveries. */
export interface Handover {
  /**
   * @returns whether it took all deliveries; it finds the others on its next read of the table.
   */
  take(events: readonly CommittedEvent[]): boolean;
  end(): void;
}

/**
 * Hands the deliveries that this process publishes to its own lanes, if it runs any: they need not read them from the
 * table, and no other process has to be notified.
 */
export class DeliveryHandover {
  #begin: (() => Handover) | undefined;

  /** Hands deliveries to these lanes from now on. @returns a function that ends it. */
  register(begin: () => Handover): () => void {
    this.#begin = begin;
    return () => {
      this.#begin = undefined;
    };
  }

  /** Call this before a publication; undefined if no lanes take its deliveries. */
  begin(): Handover | undefined {
    return this.#begin?.();
  }
}
