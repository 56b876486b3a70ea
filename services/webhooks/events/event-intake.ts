import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext } from '@connectrpc/connect';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { DeliveryHandover } from '../../platform/outbox/delivery-handover.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import { originOf } from '../../platform/rpc/call-context.ts';
import { traceStep } from '../../platform/tracing/tracing.ts';
import { lockNameOf } from '../../platform/writes/idempotency-records.ts';
import type { Publication } from './publication.ts';
import { publishTogether } from './publish-together.ts';

/** Publishes a call in its own transaction. Throws the idempotency errors of every write. */
type PublishAlone = () => Promise<readonly Event[]>;

interface PendingCall {
  readonly publication: Publication;
  readonly lockName: string;
  readonly publishAlone: PublishAlone;
  resolve(events: readonly Event[] | Promise<readonly Event[]>): void;
}

/** A call with more events is a group of its own. */
const MAX_GROUP_EVENTS = 100;
/**
 * The least time between the starts of two transactions. At 500 events a second it saves a tenth of the CPU per event and
 * adds 3 ms until an event is accepted. A call that arrives later than this after the last start does not wait.
 */
const MIN_INTERVAL_MS = 5;

/**
 * Groups published events: those that arrive while a transaction runs, or within a few milliseconds of its start, share
 * the next one, so that many callers cost little more than one. A call that needs special handling (its key is used or
 * in use, its caller has disconnected, another transaction has locked an object) gets its own transaction and does not
 * delay the others.
 */
export class EventIntake {
  readonly #db: CrossTenantDatabase;
  readonly #outboxSignal: OutboxSignal;
  readonly #handover: DeliveryHandover;
  #pending: PendingCall[] = [];
  #running = false;
  /** When the next transaction may begin, by `performance.now()`. */
  #nextAtMs = 0;

  constructor(db: CrossTenantDatabase, outboxSignal: OutboxSignal, handover: DeliveryHandover) {
    this.#db = db;
    this.#outboxSignal = outboxSignal;
    this.#handover = handover;
  }

  /** Publishes the events of a call once per idempotency key; returns them without their data. */
  publish(publication: Publication, publishAlone: PublishAlone): Promise<readonly Event[]> {
    if (needsOwnTransaction(publication.context)) return publishAlone();
    const lockName = lockNameOf(publication.scope);
    const { promise, resolve } = Promise.withResolvers<readonly Event[]>();
    this.#pending.push({ publication, lockName, publishAlone, resolve });
    if (!this.#running) void this.#run();
    return traceStep(
      () => ({ name: 'outbox publish' }),
      () => promise,
    );
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Node handles calls that arrive together one after the other: let all of them join the first transaction.
    await new Promise(setImmediate);
    while (this.#pending.length > 0) {
      const waitMs = this.#nextAtMs - performance.now();
      if (waitMs > 0 && this.#pending.length < MAX_GROUP_EVENTS) await delay(waitMs);
      this.#nextAtMs = performance.now() + MIN_INTERVAL_MS;
      await this.#publish(this.#nextGroup());
    }
    this.#running = false;
  }

  /** The first pending calls, each key once: an advisory lock does not exclude the transaction that holds it. */
  #nextGroup(): PendingCall[] {
    const group = new Map<string, PendingCall>();
    const rest: PendingCall[] = [];
    let events = 0;
    for (const call of this.#pending) {
      const { length } = call.publication.events;
      const hasRoom = group.size === 0 || events + length <= MAX_GROUP_EVENTS;
      if (hasRoom && !group.has(call.lockName)) {
        group.set(call.lockName, call);
        events += length;
      } else rest.push(call);
    }
    this.#pending = rest;
    return [...group.values()];
  }

  async #publish(group: readonly PendingCall[]): Promise<void> {
    const waiting = group.filter(({ publication }) => !publication.context.signal.aborted);
    const published = await this.#publishTogether(waiting.map(({ publication }) => publication)).catch(
      () => undefined,
    );
    for (const { publication, publishAlone, resolve } of group) {
      resolve(published?.get(publication) ?? publishAlone());
    }
  }

  /** Notifies the owners of lanes only of what those of this process have not taken. */
  async #publishTogether(publications: readonly Publication[]) {
    const taking = this.#handover.begin();
    try {
      const { events, committed } = await publishTogether(this.#db, publications);
      const taken = taking ? taking.take(committed) : committed.length === 0;
      if (!taken) this.#outboxSignal.committed('EVENTS');
      return events;
    } finally {
      taking?.end();
    }
  }
}

/** A person's session and role are locked in the write's transaction, and the starter of a workflow is looked up there. */
function needsOwnTransaction(context: HandlerContext): boolean {
  const { accountId, workflowId } = originOf(context);
  return accountId !== undefined || workflowId !== undefined;
}
