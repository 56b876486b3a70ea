import { v7 as uuidv7 } from 'uuid';
import type { Batch, BatchIds } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

/** As many as GetAttempt answers for at once. */
const MOST_PER_BATCH = 100;

type Ids = Pick<BatchIds, 'live' | 'test'>;

const newIds = (): Ids => ({ live: uuidv7(), test: uuidv7() });

/** The batches that are being filled: what is claimed comes into them until their workflows are started. */
export class OpenBatches {
  #ids = newIds();
  #batches = new Map<string, Batch>();
  #size = 0;

  /** Of the batches to claim into, by environment. */
  get ids(): Ids {
    return this.#ids;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** How many deliveries more they have room for, taken together. */
  get room(): number {
    return MOST_PER_BATCH - this.#size;
  }

  /** Whether something claimed belongs here, and not to a batch of before that is handed out again. */
  has({ id }: Batch): boolean {
    return Object.values(this.#ids).includes(id);
  }

  add(claimed: Batch): void {
    const batch = this.#batches.get(claimed.id);
    const filled = batch ? merged(batch, claimed) : claimed;
    this.#size += filled.deliveryIds.length - (batch?.deliveryIds.length ?? 0);
    this.#batches.set(claimed.id, filled);
  }

  /** The batches to start; what is claimed from now on comes into others. */
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
