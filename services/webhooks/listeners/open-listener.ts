import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  OpenListenerRequest,
  OpenListenerResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { auditRow, recordAudit } from '../../platform/writes/audit.ts';
import { signedHeaders, signingKey } from '../attempts/send-attempt.ts';
import { EVENT_CATALOG, requireEventTypes } from '../events/event-types/event-catalog.ts';
import { endListenerDelivery, type ListenerDeliveryRow, selectOldestOpen } from './listener-deliveries.ts';
import { addListener, removeListener, renewListener } from './listener-store.ts';

type Dependencies = Pick<AreaDependencies, 'database' | 'writes' | 'outboxSignal' | 'stopping' | 'logger'>;

/** The maximum number of deliveries that were sent and not yet reported. */
const MAX_UNREPORTED = 50;
const REPORT_WITHIN_MS = 60_000;
/** Shorter than the lease, and than the idle timeouts of common proxies. */
const KEEP_ALIVE_MS = 10_000;
const POLL_MS = 1_000;
/** The minimum pause between two reads: every commit of the process announces events, most of them for others. */
const MIN_PAUSE_MS = 200;

/** Opens a listener, and streams its deliveries until the caller cancels or the services close. */
export async function* openListener(
  dependencies: Dependencies,
  request: OpenListenerRequest,
  context: HandlerContext,
): AsyncGenerator<OpenListenerResponse> {
  requireEventTypes(request.eventTypes);
  const signal = AbortSignal.any([context.signal, dependencies.stopping]);
  const listener = await Listener.open(dependencies, request, context);
  const close = () => void listener.close();
  // A generator whose caller has left may stay suspended forever.
  signal.addEventListener('abort', close, { once: true });
  try {
    if (signal.aborted) return;
    yield listenerMessage({ case: 'opened', value: listener.opened });
    yield* listener.messages(signal);
  } finally {
    signal.removeEventListener('abort', close);
    await listener.close();
  }
}

/** A listener while its stream is open. */
class Listener {
  readonly #dependencies: Dependencies;
  readonly #request: OpenListenerRequest;
  readonly #context: HandlerContext;
  readonly #id: string;
  readonly #eventTypes: string[];
  /** When each unreported delivery was sent, by `performance.now()`. */
  readonly #sentAtMs = new Map<string, number>();
  #nextReadAtMs = 0;
  #closing: Promise<void> | undefined;

  private constructor(
    dependencies: Dependencies,
    request: OpenListenerRequest,
    context: HandlerContext,
    { id, eventTypes }: { id: string; eventTypes: string[] },
  ) {
    this.#dependencies = dependencies;
    this.#request = request;
    this.#context = context;
    this.#id = id;
    this.#eventTypes = eventTypes;
  }

  static async open(
    dependencies: Dependencies,
    request: OpenListenerRequest,
    context: HandlerContext,
  ): Promise<Listener> {
    const { eventTypes: requested, forwardsTo } = request;
    const eventTypes = requested.length > 0 ? requested : EVENT_CATALOG.map(({ name }) => name);
    const tenant = tenantOf(request);
    const audited: OpenListenerRequest = { ...request, signingSecret: '' };
    const id = await dependencies.writes.transaction(tenant, context, async (tx, em) => {
      await recordAudit(em, [auditRow(tenant, audited, context)]);
      return addListener(tx, { forwardsTo, eventTypes });
    });
    return new Listener(dependencies, request, context, { id, eventTypes });
  }

  get opened() {
    return {
      $typeName: 'payments.webhooks.v1.ListenerOpened' as const,
      listenerId: this.#id,
      eventTypes: this.#eventTypes,
    };
  }

  /**
   * Yields deliveries as they become open, and messages that keep the stream alive. Ends when the listener is
   * removed.
   */
  async *messages(signal: AbortSignal): AsyncGenerator<OpenListenerResponse> {
    let renewAtMs = performance.now() + KEEP_ALIVE_MS;
    while (!signal.aborted) {
      for (const row of await this.#awaitNew(renewAtMs - performance.now(), signal)) {
        if (signal.aborted) return;
        this.#sentAtMs.set(row.id, performance.now());
        yield listenerMessage({ case: 'delivery', value: this.#deliveryOf(row) });
      }
      await this.#failUnreported();
      if (performance.now() < renewAtMs || signal.aborted) continue;
      if (!(await this.#transaction((tx) => renewListener(tx, this.#id)))) return;
      renewAtMs = performance.now() + KEEP_ALIVE_MS;
      yield listenerMessage({ case: undefined });
    }
  }

  /**
   * Cancels open deliveries and removes the listener. Never rejects: if this fails, the listener expires and is
   * removed later.
   */
  close(): Promise<void> {
    this.#closing ??= this.#remove().catch((error: unknown) => {
      const { logger } = this.#dependencies;
      logger.warn(
        { err: error, subscriptionId: this.#id },
        'could not remove a webhook listener; it will expire',
      );
    });
    return this.#closing;
  }

  async #remove(): Promise<void> {
    // The caller's signal is already aborted, and would end the wait for a turn among the merchant's writes.
    const context = { values: this.#context.values, signal: new AbortController().signal };
    while (!(await this.#transaction((tx) => removeListener(tx, this.#id), context)));
  }

  #transaction<T>(
    work: (tx: TenantTransaction) => Promise<T>,
    context: Pick<HandlerContext, 'values' | 'signal'> = this.#context,
  ): Promise<T> {
    return this.#dependencies.writes.transaction(tenantOf(this.#request), context, work);
  }

  /** Waits for open deliveries that have not been sent, within the limit of unreported ones. */
  async #awaitNew(waitMs: number, signal: AbortSignal): Promise<readonly ListenerDeliveryRow[]> {
    const wait = { work: 'EVENTS', waitMs, signal } as const;
    const found = await this.#dependencies.outboxSignal.await(wait, async () => {
      const rows = await this.#readNew(signal);
      const isFull = this.#sentAtMs.size === MAX_UNREPORTED;
      return { found: rows.length > 0 ? rows : undefined, pollMs: isFull ? MIN_PAUSE_MS : POLL_MS };
    });
    return found ?? [];
  }

  async #readNew(signal: AbortSignal): Promise<readonly ListenerDeliveryRow[]> {
    const pauseMs = this.#nextReadAtMs - performance.now();
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return [];
    const open = await this.#dependencies.database.read(
      selectOldestOpen({ ...tenantOf(this.#request), listenerId: this.#id, limit: MAX_UNREPORTED }),
    );
    this.#nextReadAtMs = performance.now() + MIN_PAUSE_MS;
    const openIds = new Set(open.map(({ id }) => id));
    for (const id of this.#sentAtMs.keys()) if (!openIds.has(id)) this.#sentAtMs.delete(id);
    return open.filter(({ id }) => !this.#sentAtMs.has(id));
  }

  /** Fails deliveries that were not reported in time: the program hangs, or the report was lost. */
  async #failUnreported(): Promise<void> {
    const sentBefore = performance.now() - REPORT_WITHIN_MS;
    for (const [deliveryId, sentAtMs] of this.#sentAtMs) {
      if (sentAtMs > sentBefore) continue;
      const key = { listenerId: this.#id, deliveryId };
      await this.#transaction((tx) =>
        endListenerDelivery(tx, key, { failure: 'TIMEOUT', latencyMs: REPORT_WITHIN_MS }),
      );
      this.#sentAtMs.delete(deliveryId);
    }
  }

  #deliveryOf({ id, event_id: eventId, event_type: eventType, body: text }: ListenerDeliveryRow) {
    const body = Buffer.from(text);
    const keys = [signingKey(this.#request.signingSecret)];
    return {
      $typeName: 'payments.webhooks.v1.ListenerDelivery' as const,
      deliveryId: id,
      eventId,
      eventType,
      headers: signedHeaders({ eventId, body, keys, startedAt: new Date() }),
      body,
    };
  }
}

const listenerMessage = (message: OpenListenerResponse['message']): OpenListenerResponse => ({
  $typeName: 'payments.webhooks.v1.OpenListenerResponse',
  message,
});
