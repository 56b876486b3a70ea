import { create } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type PublishEventRequest,
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox.ts';
import { actorOf, requestIdOf } from '../../platform/rpc/call-context.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import { idempotencyScope, lockNameOf, type Writes } from '../../platform/writes/writes.ts';
import { publishAlone } from './publish-alone.ts';
import { type Publication, publishTogether } from './publish-together.ts';

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly writes: Writes;
  readonly outboxSignal: OutboxSignal;
}

interface Waiting {
  readonly publication: Publication;
  /** Settles the call with whatever publishing alone comes to. */
  alone(): void;
  answer(response: PublishEventResponse): void;
}

const MOST_TOGETHER = 100;

/**
 * Takes in published events: those that come while a transaction runs share the next one, so that many callers cost
 * little more than one. Whatever is unusual about an event (its key is known or in use, its caller has gone, another
 * transaction holds its object) is left to a transaction of its own, and delays no other.
 */
export class EventIntake {
  readonly #deps: Dependencies;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Publishes a valid event once per idempotency key, with the refusals of every write. */
  publish(request: PublishEventRequest, context: HandlerContext): Promise<PublishEventResponse> {
    // A person's event has an audit entry to commit with.
    if (actorOf(context)) return publishAlone(this.#deps.writes, request, context);
    const publication = publicationOf(request, context);
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        publication,
        alone: () => publishAlone(this.#deps.writes, request, context).then(resolve, reject),
        answer: resolve,
      });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Calls that have arrived together are read one after the other: they share already the first transaction.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) await this.#publish(this.#takeGroup());
    this.#running = false;
  }

  /** The first that wait, each key once: the lock of a key does not keep out its own transaction. */
  #takeGroup(): Waiting[] {
    const group = new Map<string, Waiting>();
    const left: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const { lockName } = waiting.publication;
      if (group.size < MOST_TOGETHER && !group.has(lockName)) group.set(lockName, waiting);
      else left.push(waiting);
    }
    this.#waiting = left;
    return [...group.values()];
  }

  async #publish(group: readonly Waiting[]): Promise<void> {
    const answers = await publishTogether(
      this.#deps.db,
      group.map(({ publication }) => publication),
    ).catch(() => undefined);
    if (answers?.size) this.#deps.outboxSignal.committed('EVENTS');
    for (const waiting of group) {
      const response = answers?.get(waiting.publication);
      if (response) waiting.answer(response);
      else waiting.alone();
    }
  }
}

function publicationOf(request: PublishEventRequest, context: HandlerContext): Publication {
  const { merchantId, environment, type, objectId, data = {} } = request;
  const scope = idempotencyScope(request, context);
  const id = uuidv7();
  const occurredAt = new Date();
  const requestId = request.requestId ?? requestIdOf(context);
  const event = { id, merchantId, environment, type, objectId, requestId, data };
  return {
    ...{ scope, lockName: lockNameOf(scope), id, type, objectId, requestId, occurredAt, data },
    isAwaited: () => !context.signal.aborted,
    responseWith: (sequence) =>
      create(PublishEventResponseSchema, {
        event: { ...event, sequence, timestamp: timestampOf(occurredAt) },
      }),
  };
}
