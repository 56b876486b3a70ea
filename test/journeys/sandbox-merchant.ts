import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { Webhook } from 'standardwebhooks';
import { expect, vi } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryService,
  DeliveryStatus,
  EventService,
  WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite } from '../support/harness.ts';
import type { Receiver } from '../support/tls-receiver.ts';

const EVENT_TYPE = 'payment.succeeded.v1';
const PING = 'webhook.ping.v1';
const WAIT_MS = 25_000;

/** A request that the receiver has verified. */
export interface Arrival {
  readonly id: string;
  readonly type: string;
  readonly requestId: string;
  readonly data: JsonObject;
}

/** A merchant of the sandbox with one subscription, and the calls of teams, operators and the merchant about it. */
export class SandboxMerchant {
  readonly tenant = newTenant(Environment.TEST);
  readonly subscriptionId: string;
  readonly secret: string;
  readonly #receiver: Receiver;
  readonly #transport: Transport;
  readonly #example: JsonObject;

  private constructor(
    transport: Transport,
    receiver: Receiver,
    made: { tenant: SandboxMerchant['tenant']; subscriptionId: string; secret: string; example: JsonObject },
  ) {
    this.#transport = transport;
    this.#receiver = receiver;
    this.tenant = made.tenant;
    this.subscriptionId = made.subscriptionId;
    this.secret = made.secret;
    this.#example = made.example;
  }

  /** Subscribes the receiver's path and takes the secret, as the merchant does once. */
  static async subscribe(
    transport: Transport,
    receiver: Receiver,
    path = '/hook',
    eventTypes: string[] = [EVENT_TYPE],
  ): Promise<SandboxMerchant> {
    const tenant = newTenant(Environment.TEST);
    const subscriptions = createClient(WebhookSubscriptionService, transport);
    const url = `https://localhost:${receiver.port}${path}`;
    const { subscription } = await subscriptions.createWebhookSubscription({
      ...newWrite(tenant),
      url,
      eventTypes,
    });
    const subscriptionId = subscription!.id;
    const { signingSecret: secret } = await subscriptions.revealSigningSecret({
      ...newWrite(tenant),
      subscriptionId,
    });
    const types = await createClient(EventService, transport).listEventTypes({});
    const example = types.eventTypes.find(({ name }) => name === EVENT_TYPE)!.dataExample!;
    return new SandboxMerchant(transport, receiver, { tenant, subscriptionId, secret, example });
  }

  /** Publishes an event as a team; returns its id once it is committed. */
  async publish(): Promise<string> {
    const { event } = await createClient(EventService, this.#transport).publishEvent({
      ...newWrite(this.tenant),
      type: EVENT_TYPE,
      objectId: randomUUID(),
      data: this.#example,
    });
    return event!.id;
  }

  /** The arrived events without pings; every signature is verified. */
  get arrivals(): Arrival[] {
    return this.#verified().filter(({ type }) => type !== PING);
  }

  get pings(): Arrival[] {
    return this.#verified().filter(({ type }) => type === PING);
  }

  /** Waits until each of the events has arrived at least once. */
  async received(eventIds: readonly string[], timeout = WAIT_MS): Promise<void> {
    await vi.waitFor(
      () => {
        const arrived = new Set(this.arrivals.map(({ id }) => id));
        expect(eventIds.filter((id) => !arrived.has(id))).toEqual([]);
      },
      { timeout, interval: 50 },
    );
  }

  async becomes(state: WebhookSubscriptionState, timeout = WAIT_MS): Promise<void> {
    await vi.waitFor(
      async () => {
        const { subscription } = await this.#subscriptions.getWebhookSubscription(this.#named);
        expect(WebhookSubscriptionState[subscription!.state]).toBe(WebhookSubscriptionState[state]);
      },
      { timeout, interval: 50 },
    );
  }

  /** The event's only delivery with its attempts, once it meets the expectation. */
  async delivery(eventId: string, status: DeliveryStatus, timeout = WAIT_MS) {
    const deliveries = createClient(DeliveryService, this.#transport);
    return vi.waitFor(
      async () => {
        const listed = await deliveries.listDeliveries({ ...this.tenant, eventId });
        const [delivery, ...more] = listed.deliveries;
        expect(more).toEqual([]);
        expect(DeliveryStatus[delivery?.status ?? 0]).toBe(DeliveryStatus[status]);
        return deliveries.getDelivery({ ...this.tenant, deliveryId: delivery!.id });
      },
      { timeout, interval: 50 },
    );
  }

  get #subscriptions() {
    return createClient(WebhookSubscriptionService, this.#transport);
  }

  get #named() {
    return { ...this.tenant, subscriptionId: this.subscriptionId };
  }

  #verified(): Arrival[] {
    const webhook = new Webhook(this.secret);
    return this.#receiver.requests.map(
      ({ body, headers }) => webhook.verify(body, headers as Record<string, string>) as Arrival,
    );
  }
}
