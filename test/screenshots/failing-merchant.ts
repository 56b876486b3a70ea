import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Agent, request } from 'undici';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type Delivery,
  DeliveryService,
  EventService,
  WebhookSubscriptionService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';

/** The fields of demo.json that are used here. */
export interface DemoFile {
  readonly sandbox: { readonly merchantId: string };
  readonly grpc: { readonly baseUrl: string; readonly token: string };
  readonly temporal: { readonly ui: string; readonly namespace: string };
  readonly receiver: { readonly url: string; readonly ca: string };
}

const EVENT_TYPE = 'payment.succeeded.v1';
const PATIENCE_MS = 180_000;

/** The demo merchant of the sandbox, with an endpoint that fails and one that works. */
export class FailingMerchant {
  readonly #receiver: string;
  readonly #agent: Agent;
  readonly #clients;
  readonly tenant;

  constructor({ sandbox, grpc, receiver }: DemoFile) {
    const transport = createGrpcTransport({ baseUrl: grpc.baseUrl, interceptors: [bearer(grpc.token)] });
    this.tenant = { merchantId: sandbox.merchantId, environment: Environment.TEST };
    this.#receiver = new URL(receiver.url).origin;
    this.#agent = new Agent({ connect: { ca: readFileSync(receiver.ca, 'utf8') } });
    this.#clients = {
      events: createClient(EventService, transport),
      deliveries: createClient(DeliveryService, transport),
      subscriptions: createClient(WebhookSubscriptionService, transport),
    };
  }

  get deliveries() {
    return this.#clients.deliveries;
  }

  get subscriptions() {
    return this.#clients.subscriptions;
  }

  readonly write = () => ({ ...this.tenant, idempotencyKey: randomUUID() });

  /** Subscribes a path of the demo receiver. */
  async subscribe(path: string): Promise<string> {
    const url = `${this.#receiver}/webhooks/${path}`;
    const request = { ...this.write(), url, eventTypes: [EVENT_TYPE] };
    return (await this.#clients.subscriptions.createWebhookSubscription(request)).subscription!.id;
  }

  /** Makes a path of the demo receiver answer with this status until the next call. */
  async fail(path: string, status: number): Promise<void> {
    const url = `${this.#receiver}/fail?count=10000&status=${status}&path=/webhooks/${path}`;
    await (await request(url, { method: 'POST', dispatcher: this.#agent })).body.dump();
  }

  async publish(count: number): Promise<void> {
    const { eventTypes } = await this.#clients.events.listEventTypes({});
    const { dataExample } = eventTypes.find(({ name }) => name === EVENT_TYPE)!;
    for (let n = 0; n < count; n += 1) {
      const event = { type: EVENT_TYPE, objectId: randomUUID(), data: dataExample! };
      await this.#clients.events.publishEvent({ ...this.write(), ...event });
    }
  }

  /** The newest deliveries of a subscription, once this many meet the condition. */
  async deliveriesOf(
    subscriptionId: string,
    count: number,
    holds: (delivery: Delivery) => boolean,
  ): Promise<Delivery[]> {
    return until(async () => {
      const { deliveries } = await this.deliveries.listDeliveries({ ...this.tenant, subscriptionId });
      const found = deliveries.filter(({ eventType }) => eventType === EVENT_TYPE).filter(holds);
      return found.length >= count ? found : undefined;
    });
  }

  /** Resends the last hour to a subscription. */
  async resendLastHour(subscriptionId: string) {
    const [from, to] = [new Date(Date.now() - 3_600_000), new Date()].map(timestampFromDate);
    const selection = { case: 'period', value: { from: from!, to: to! } } as const;
    const { resend } = await this.deliveries.resendDeliveries({ ...this.write(), subscriptionId, selection });
    return resend!;
  }
}

/** Waits until the function returns a value, and returns it. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (Date.now() < giveUpAt) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(250);
  }
  throw new Error(`waited ${PATIENCE_MS / 1000} s in vain`);
}
