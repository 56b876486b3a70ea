import type { AttemptSend } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { answered, type WebhooksFixture } from './webhooks-fixture.ts';

/** What a worker did, in the order of time. */
export interface LogEntry {
  readonly kind: 'BEGUN' | 'ENDED';
  readonly eventId: string;
  readonly subscriptionId: string;
}

/** Begins attempts of what is claimed and of retries, and ends them with statuses as they are drawn. */
export class LoggingWorker {
  readonly #fixture: WebhooksFixture;
  readonly #log: LogEntry[];
  readonly #retries: string[];
  readonly #nextStatus: () => number;

  /** @param retries deliveries that are RETRYING, which workers share. */
  constructor(fixture: WebhooksFixture, log: LogEntry[], retries: string[], nextStatus: () => number) {
    this.#fixture = fixture;
    this.#log = log;
    this.#retries = retries;
    this.#nextStatus = nextStatus;
  }

  /** One claim and one retry; answers whether there was anything to do. */
  async step(maxDeliveries: number): Promise<boolean> {
    const { batches, retries } = await this.#fixture.claim(maxDeliveries);
    this.#retries.push(...retries.map(({ deliveryId }) => deliveryId));
    const claimed = batches.flatMap((batch) =>
      batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })),
    );
    const retried = this.#retries.splice(0, 5).map((deliveryId) => ({ deliveryId }));
    const keys = [...claimed, ...retried];
    if (keys.length === 0) return false;
    const answers = await this.#fixture.ask(keys);
    const sends = answers.flatMap((answer, index) => {
      const { deliveryId } = keys[index]!;
      if (answer.case === 'notNow') this.#retries.push(deliveryId);
      return answer.case === 'send' ? [{ deliveryId, send: answer.value }] : [];
    });
    await this.#attempt(sends);
    return true;
  }

  /** The attempts of a batch are under way side by side, and each is reported by itself. */
  async #attempt(sends: readonly { deliveryId: string; send: AttemptSend }[]): Promise<void> {
    for (const { send } of sends) this.#add('BEGUN', send);
    await new Promise(setImmediate);
    await Promise.all(
      sends.map(async ({ deliveryId, send }) => {
        this.#add('ENDED', send);
        const [outcome] = await this.#fixture.report(answered(deliveryId, send, this.#nextStatus()));
        if (outcome!.retry) this.#retries.push(deliveryId);
      }),
    );
  }

  #add(kind: LogEntry['kind'], { eventId, subscriptionId }: AttemptSend): void {
    this.#log.push({ kind, eventId, subscriptionId });
  }
}

/** What is wrong with a log: two under way of one object to one subscription, or one after a later one. */
export function faultsOf(
  log: readonly LogEntry[],
  events: ReadonlyMap<string, { readonly objectId: string; readonly sequence: bigint }>,
): string[] {
  const lines = new Map<string, { underWay: number; sequence: bigint }>();
  const faults: string[] = [];
  for (const { kind, eventId, subscriptionId } of log) {
    const event = events.get(eventId);
    if (!event) continue;
    const name = `${subscriptionId} ${event.objectId}`;
    const line = lines.get(name) ?? { underWay: 0, sequence: 0n };
    lines.set(name, line);
    if (kind === 'ENDED') {
      line.underWay -= 1;
      continue;
    }
    line.underWay += 1;
    if (line.underWay > 1) faults.push(`${name}: ${event.sequence} beside another`);
    if (event.sequence < line.sequence) faults.push(`${name}: ${event.sequence} after ${line.sequence}`);
    line.sequence = event.sequence;
  }
  return faults;
}
