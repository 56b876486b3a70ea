import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Client, ConnectError, createClient } from '@connectrpc/connect';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { retrying } from '../../workflows/retrying.ts';
import type { AcceptedEvent } from './records.ts';

export interface PublishersOptions {
  readonly servicesUrl: string;
  readonly token: string;
  readonly merchantIds: readonly string[];
  /** The types to publish, round robin, each with the catalog's example. */
  readonly eventTypes: readonly string[];
  readonly eventsPerSecond: number;
}

export interface Publishers {
  readonly accepted: readonly AcceptedEvent[];
  /** Refusals, which no fault may cause. */
  readonly refused: readonly string[];
  /** Stops publishing; resolves when every started event is accepted. */
  stop(): Promise<void>;
}

const PUBLISHERS = 5;
const OBJECTS_PER_MERCHANT = 40;
const CALL_TIMEOUT_MS = 5_000;
/** Far more than any fault takes. */
const PATIENCE_MS = 10 * 60_000;
/** A publisher that waits for this many responses pauses, and catches up once they arrive. */
const MOST_OPEN = 40;

/**
 * Several publishers, each with its own connections. They publish at a fixed rate, catch up after an outage, and
 * repeat calls with the same key until the outcome is clear.
 */
export async function startPublishers(options: PublishersOptions): Promise<Publishers> {
  const { servicesUrl, token, merchantIds, eventTypes, eventsPerSecond } = options;
  const accepted: AcceptedEvent[] = [];
  const refused: string[] = [];
  const stopping = new AbortController();
  const { eventTypes: catalog } = await clientOf(servicesUrl, token).listEventTypes({});
  const examples = new Map(catalog.map(({ name, dataExample }) => [name, dataExample!]));
  let count = 0;

  async function publishOne(events: Client<typeof EventService>): Promise<void> {
    count += 1;
    const [merchantId, type] = [at(merchantIds, count), at(eventTypes, Math.floor(count / 7))];
    const objectId = `object-${Math.floor(count / merchantIds.length) % OBJECTS_PER_MERCHANT}`;
    const tenant = { merchantId, environment: Environment.TEST };
    const request = { ...tenant, idempotencyKey: randomUUID(), type, objectId, data: examples.get(type)! };
    const askedAt = Date.now();
    let tries = 0;
    const publish = () => {
      tries += 1;
      return events.publishEvent(request, { timeoutMs: CALL_TIMEOUT_MS });
    };
    try {
      const { event } = await retryUntilAnswered(publish);
      const timestamp = timestampMs(event!.timestamp!);
      accepted.push({
        id: event!.id,
        merchantId,
        type,
        objectId,
        sequence: Number(event!.sequence),
        timestampMs: timestamp,
        askedAt,
        acceptedAt: Date.now(),
        tries,
      });
    } catch (error) {
      refused.push(`publishing ${type} was refused: ${error}`);
    }
  }

  async function runPublisher(): Promise<void> {
    const events = clientOf(servicesUrl, token);
    const open = new Set<Promise<void>>();
    const startedAt = performance.now();
    for (let n = 1; !stopping.signal.aborted; n += 1) {
      const one: Promise<void> = publishOne(events).finally(() => open.delete(one));
      open.add(one);
      while (open.size >= MOST_OPEN && !stopping.signal.aborted) await Promise.race(open);
      const nextAt = startedAt + (n * PUBLISHERS * 1_000) / eventsPerSecond;
      await delay(Math.max(0, nextAt - performance.now()));
    }
    await Promise.all(open);
  }

  const running = Array.from({ length: PUBLISHERS }, runPublisher);
  return {
    accepted,
    refused,
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Repeats a call until its outcome is clear: success, or a refusal, which is thrown. */
export function retryUntilAnswered<T>(call: () => Promise<T>): Promise<T> {
  return retrying(call, { forMs: PATIENCE_MS, codeOf: (error) => ConnectError.from(error).code });
}

function clientOf(servicesUrl: string, token: string): Client<typeof EventService> {
  return createClient(EventService, remoteTransport(servicesUrl, token));
}

const at = <T>(values: readonly T[], index: number): T => values[index % values.length]!;
