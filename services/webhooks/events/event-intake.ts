import { setTimeout as delay } from 'node:timers/promises';
import { toBinary } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { type Event, EventSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { isDatabaseUnavailable } from '../../platform/database/database-errors.ts';
import { jsonRows } from '../../platform/database/json-rows.ts';
import {
  type CommittedDelivery,
  type CommittedEvent,
  eventRow,
  type OutboxEvent,
  type PublishedEvent,
} from '../../platform/outbox/outbox-events.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import { originOf, requestIdOf } from '../../platform/rpc/call-context.ts';
import { traceStep } from '../../platform/tracing/tracing.ts';
import { auditedRequest } from '../../platform/writes/audit.ts';
import {
  type IdempotencyScope,
  lockNameOf,
  type WriteRequest,
} from '../../platform/writes/idempotency-records.ts';

/** A call that publishes events. */
export interface PublishCall {
  readonly request: WriteRequest;
  /** What the audit trail keeps. */
  readonly requestWithoutData: WriteRequest;
  readonly context: HandlerContext;
}

/** The valid events of a call, to publish under its idempotency key: all of them, or none. */
export interface Publication extends PublishCall {
  readonly scope: IdempotencyScope;
  readonly events: readonly OutboxEvent[];
  /** The events as they are returned, without their data, id and sequence, in the same order. */
  readonly unpublished: readonly Omit<Event, 'id' | 'sequence'>[];
}

/** The published events as they are returned, without their data. */
export const eventMessages = ({ unpublished }: Publication, published: readonly PublishedEvent[]): Event[] =>
  unpublished.map((event, index) => {
    const { id, sequence } = published[index]!;
    return { ...event, id, sequence };
  });

interface PendingCall {
  readonly publication: Publication;
  readonly lockName: string;
  resolve(events: Event[] | undefined): void;
}

/** A call with more events is a group of its own. */
const MAX_GROUP_EVENTS = 100;
/**
 * The least time between the starts of two transactions. At 500 events a second it saves a tenth of the CPU per event and
 * adds 3 ms until an event is accepted. A call that arrives later than this after the last start does not wait.
 */
const MIN_INTERVAL_MS = 5;
/** Deliveries get at most this much time after each transaction. */
const MAX_PAUSE_MS = 100;

/**
 * Groups published events: those that arrive while a transaction runs, or within a few milliseconds of its start, share
 * the next one, so that many callers cost little more than one. A call that needs special handling (its key is used or
 * in use, its caller has disconnected, another transaction has locked an object) is left for a transaction of its own and
 * does not delay the others.
 */
export class EventIntake {
  readonly #db: CrossTenantDatabase;
  readonly #outboxSignal: OutboxSignal;
  readonly #logger: Logger;
  #pending: PendingCall[] = [];
  #running = false;
  /** When the next transaction may begin, unless its group is full, by `performance.now()`. */
  #nextAtMs = 0;
  /** When a full group may be published, by `performance.now()`. */
  #pausedUntilMs = 0;

  constructor(db: CrossTenantDatabase, outboxSignal: OutboxSignal, logger: Logger) {
    this.#db = db;
    this.#outboxSignal = outboxSignal;
    this.#logger = logger;
  }

  /**
   * Publishes the events of a call once per idempotency key; returns them without their data. Returns undefined, and has
   * published none, if the call needs a transaction of its own.
   */
  async publish(publication: Publication): Promise<Event[] | undefined> {
    if (needsOwnTransaction(publication.context)) return undefined;
    const lockName = lockNameOf(publication.scope);
    const { promise, resolve } = Promise.withResolvers<Event[] | undefined>();
    this.#pending.push({ publication, lockName, resolve });
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
      const isFull = this.#pending.length >= MAX_GROUP_EVENTS;
      const waitMs = Math.max(this.#pausedUntilMs, isFull ? 0 : this.#nextAtMs) - performance.now();
      if (waitMs > 0) await delay(waitMs);
      this.#nextAtMs = performance.now() + MIN_INTERVAL_MS;
      await this.#publish(this.#nextGroup());
    }
    this.#running = false;
  }

  /**
   * Leaves deliveries of this process as much time as it was busy during the last transaction. Otherwise more would be
   * accepted than is delivered when callers publish more than the process can handle.
   */
  #pause(busyMs: number): void {
    this.#pausedUntilMs = performance.now() + Math.min(busyMs, MAX_PAUSE_MS);
  }

  /** The first pending calls, each key once: an advisory lock does not exclude the transaction that holds it. */
  #nextGroup(): PendingCall[] {
    const group = new Map<string, PendingCall>();
    const rest: PendingCall[] = [];
    let events = 0;
    for (const call of this.#pending) {
      const { length } = call.publication.events;
      const fits = group.size === 0 || events + length <= MAX_GROUP_EVENTS;
      if (fits && !group.has(call.lockName)) {
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
      (error: unknown) => {
        // While the database is unavailable, each call fails and logs by itself.
        if (!isDatabaseUnavailable(error))
          this.#logger.warn(
            { err: error },
            'calls could not be published together; publishing each by itself',
          );
        return undefined;
      },
    );
    for (const { publication, resolve } of group) resolve(published?.get(publication));
  }

  /** Notifies the owners of lanes only of deliveries that those of this process have not taken. */
  async #publishTogether(publications: readonly Publication[]) {
    const handover = this.#outboxSignal.beginHandover();
    const before = performance.eventLoopUtilization();
    try {
      const { events, committed } = await publishTogether(this.#db, publications);
      const taken = handover
        ? handover.take(committed)
        : committed.every(({ deliveries }) => deliveries.length === 0);
      if (!taken) this.#outboxSignal.committed('EVENTS');
      return events;
    } finally {
      if (handover?.isDelivering) this.#pause(performance.eventLoopUtilization(before).active);
      handover?.end();
    }
  }
}

/** A person's session and role are locked in the write's transaction, and the starter of a workflow is looked up there. */
function needsOwnTransaction(context: HandlerContext): boolean {
  const { accountId, workflowId } = originOf(context);
  return accountId !== undefined || workflowId !== undefined;
}

/** One statement, so that a group costs one round trip and one commit. */
export const PUBLISH_CALLS: Statement = {
  name: 'publish_calls',
  text: `
select call, id, sequence, body, deliveries
  from webhooks.publish_calls(:calls::json, :events::json, :responses::json)`,
};

interface PublishedRow extends PublishedEvent {
  /** The position of its publication. */
  readonly call: number;
  readonly body: string;
  readonly deliveries: readonly DeliveryRow[];
}

type DeliveryRow = readonly [
  id: string,
  subscriptionId: string,
  generation: number,
  ordered: boolean,
  status: CommittedDelivery['status'],
];

/** The result of publishing together: the events of each call, and all events with their deliveries. */
interface Published {
  readonly events: ReadonlyMap<Publication, Event[]>;
  readonly committed: readonly CommittedEvent[];
}

/**
 * Publishes calls with different idempotency keys in one transaction. Returns the events of those it published; it skips
 * calls whose key is used or in use. If it throws, it has published none.
 */
async function publishTogether(
  db: CrossTenantDatabase,
  publications: readonly Publication[],
): Promise<Published> {
  const rows = await db.run<PublishedRow>(PUBLISH_CALLS, {
    calls: jsonRows(publications.map(callRow)),
    events: jsonRows(
      publications.flatMap(({ scope, events }) => events.map((event) => eventRow(scope, event))),
    ),
    responses: jsonRows(publications.flatMap(responseRows)),
  });
  const committed: CommittedEvent[] = [];
  const events = new Map<Publication, Event[]>();
  for (const [call, published] of Map.groupBy(rows, (row) => row.call)) {
    const publication = publications[call]!;
    events.set(publication, eventMessages(publication, published));
    for (const [index, row] of published.entries()) committed.push(committedEvent(publication, index, row));
  }
  return { events, committed };
}

function committedEvent({ scope, events }: Publication, index: number, row: PublishedRow): CommittedEvent {
  const { merchantId, environment } = scope;
  return {
    merchantId,
    environment,
    id: row.id,
    body: row.body,
    objectId: events[index]!.objectId,
    deliveries: row.deliveries.map(([id, subscriptionId, generation, ordered, status]) => ({
      id,
      subscriptionId,
      generation: BigInt(generation),
      ordered,
      status,
    })),
  };
}

function callRow({ scope, context, requestWithoutData }: Publication, call: number) {
  const { merchantId, environment, caller, method, key, requestHash } = scope;
  return {
    call,
    merchantId,
    environment,
    caller,
    method,
    key,
    lockName: lockNameOf(scope),
    requestHash: requestHash.toString('base64'),
    requestId: requestIdOf(context),
    request: auditedRequest(context, requestWithoutData),
  };
}

const responseRows = ({ unpublished }: Publication, call: number) =>
  unpublished.map((event) => {
    const bytes = toBinary(EventSchema, { ...event, id: '', sequence: 0n });
    return { call, event: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
  });
