import { create } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type PublishEventRequest,
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import { actorOf, requestIdOf } from '../../platform/rpc/call-context.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import { idempotencyScope, lockNameOf } from '../../platform/writes/idempotency-records.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { publishAlone } from './publish-alone.ts';
import { type Publication, publishTogether } from './publish-together.ts';

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly writes: Writes;
  readonly outboxSignal: OutboxSignal;
}

interface PendingCall {
  readonly publication: Publication;
  readonly lockName: string;
  /** Publishes the event in its own transaction, and settles the call with the result. */
  publishAlone(): void;
  resolve(response: PublishEventResponse): void;
}

const MAX_GROUP_SIZE = 100;

/**
 * Groups published events: those that arrive while a transaction runs share the next one, so that many callers cost
 * little more than one. An event that needs special handling (its key is used or in use, its caller has disconnected,
 * another transaction has locked its object) gets its own transaction and does not delay the others.
 */
export class EventIntake {
  readonly #deps: Dependencies;
  #pending: PendingCall[] = [];
  #running = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Publishes a valid event once per idempotency key. Throws the idempotency errors of every write. */
  publish(request: PublishEventRequest, context: HandlerContext): Promise<PublishEventResponse> {
    // An event that a person publishes commits together with an audit entry.
    if (actorOf(context)) return publishAlone(this.#deps.writes, request, context);
    const publication = publicationOf(request, context);
    const { promise, resolve, reject } = Promise.withResolvers<PublishEventResponse>();
    this.#pending.push({
      publication,
      lockName: lockNameOf(publication.scope),
      publishAlone: () => publishAlone(this.#deps.writes, request, context).then(resolve, reject),
      resolve,
    });
    if (!this.#running) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Node handles calls that arrive together one after the other: let all of them join the first transaction.
    await new Promise(setImmediate);
    while (this.#pending.length > 0) await this.#publish(this.#nextGroup());
    this.#running = false;
  }

  /** The first pending calls, each key once: an advisory lock does not exclude the transaction that holds it. */
  #nextGroup(): PendingCall[] {
    const group = new Map<string, PendingCall>();
    const rest: PendingCall[] = [];
    for (const call of this.#pending) {
      if (group.size < MAX_GROUP_SIZE && !group.has(call.lockName)) group.set(call.lockName, call);
      else rest.push(call);
    }
    this.#pending = rest;
    return [...group.values()];
  }

  async #publish(group: readonly PendingCall[]): Promise<void> {
    const responses = await publishTogether(
      this.#deps.db,
      group.map(({ publication }) => publication),
    ).catch(() => undefined);
    if (responses?.size) this.#deps.outboxSignal.committed('EVENTS');
    for (const call of group) {
      const response = responses?.get(call.publication);
      if (response) call.resolve(response);
      else call.publishAlone();
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
    scope,
    id,
    type,
    objectId,
    requestId,
    occurredAt,
    data,
    isAwaited: () => !context.signal.aborted,
    responseWith: (sequence) =>
      create(PublishEventResponseSchema, {
        event: { ...event, sequence, timestamp: timestampOf(occurredAt) },
      }),
  };
}
