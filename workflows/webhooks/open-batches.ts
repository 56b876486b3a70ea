import { v7 as uuidv7 } from 'uuid';
import type { Batch, BatchIds } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { MAX_BATCH_SIZE } from '../../services/contracts/webhooks/delivery-limits.ts';

type Ids = Pick<BatchIds, 'live' | 'test'>;

const newIds = (): Ids => ({ live: uuidv7(), test: uuidv7() });

/** The batches that are being filled: claimed deliveries are added to them until their workflows start. */
export class OpenBatches {
  #ids = newIds();
  #batches = new Map<string, Batch>();
  #size = 0;

  /** The ids of the batches to claim into, by environment. */
  get ids(): Ids {
    return this.#ids;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** How many more deliveries fit into them, taken together. */
  get capacity(): number {
    return MAX_BATCH_SIZE - this.#size;
  }

  /** Whether a claimed batch is one of these, and not an earlier one that was requeued. */
  has({ id }: Batch): boolean {
    return Object.values(this.#ids).includes(id);
  }

  add(claimed: Batch): void {
    const batch = this.#batches.get(claimed.id);
    const filled = batch ? merged(batch, claimed) : claimed;
    this.#size += filled.deliveryIds.length - (batch?.deliveryIds.length ?? 0);
    this.#batches.set(claimed.id, filled);
  }

  /** Answers the batches to start; what is claimed from now on is added to new ones. */
  close(): Batch[] {
    const batches = [...this.#batches.values()];
    this.#ids = newIds();
    this.#batches = new Map();
    this.#size = 0;
    return batches;
  }
}

function merged(batch: Batch, more: Batch): Batch {
  return {
    ...batch,
    deliveryIds: distinct(batch.deliveryIds, more.deliveryIds),
    merchantIds: distinct(batch.merchantIds, more.merchantIds),
    subscriptionIds: distinct(batch.subscriptionIds, more.subscriptionIds),
    requestIds: distinct(batch.requestIds, more.requestIds),
    eventType: batch.eventType === more.eventType ? batch.eventType : undefined,
  };
}

const distinct = (some: readonly string[], more: readonly string[]) => [...new Set([...some, ...more])];
