import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, vi } from 'vitest';
import {
  DeliveryStatus,
  type GetDeliveryResponse,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite, startHarness, type TestHarness, type TestTenant } from '../../../support/harness.ts';
import { loopbackSettings } from '../../../support/loopback-settings.ts';
import { type ReceivedRequest, startReceiver } from '../../../support/tls-receiver.ts';
import { type WebhooksFixture, webhooksFixture } from '../webhooks-fixture.ts';

/** Waits until a check passes, also on a busy machine. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 30_000, interval: 100 });

type Respond = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** An endpoint of a sandbox subscription. */
export interface Endpoint {
  readonly url: string;
  /** The requests that it received, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** The ids of the events that it received, without the ping. */
  readonly eventIds: readonly string[];
  /** Makes it answer with this status, or with the function. */
  answer(how: number | Respond): void;
  /** Makes requests wait until `release` answers the oldest of them, or all. */
  hold(): HeldRequests;
}

/** The requests that an endpoint has not answered. */
export interface HeldRequests {
  readonly count: number;
  release(status: number, most?: number): void;
}

export interface LanesFixture extends WebhooksFixture {
  readonly harness: TestHarness;
  /** A new endpoint, which answers 200. */
  endpoint(): Endpoint;
  /** A subscription to a new endpoint that has answered its ping. */
  subscribed(
    tenant: TestTenant,
    options?: { ordered?: boolean; eventTypes?: string[] },
  ): Promise<{ readonly id: string; readonly endpoint: Endpoint }>;
  subscriptionOf(tenant: TestTenant, subscriptionId: string): Promise<WebhookSubscription>;
  /** Makes the next attempt of a delivery that is RETRYING; returns the delivery after it. */
  attemptAgain(tenant: TestTenant, deliveryId: string): Promise<GetDeliveryResponse>;
  /** The statuses of a merchant's deliveries, oldest first, without the ping. */
  statuses(tenant: TestTenant): Promise<string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

const PING = '"type":"webhook.ping.v1"';

/** Services that deliver to endpoints of the sandbox on this machine. */
export async function startLanesFixture(
  overrides: Record<string, string> = {},
  onStatement?: (sql: string) => void,
): Promise<LanesFixture> {
  const answers = new Map<string, Respond>();
  const receiver = await startReceiver((request, response) => answers.get(request.url!)!(request, response));
  const harness = await startHarness({ ...loopbackSettings(), ...overrides }, onStatement);
  harness.services.startWebhookLanes();
  const webhooks = webhooksFixture(harness, harness.transports.inProcess);
  const endpoint = (): Endpoint => {
    const path = `/${randomUUID()}`;
    const answerWith =
      (status: number): Respond =>
      (_request, response) => {
        response.writeHead(status).end();
      };
    answers.set(path, answerWith(200));
    const requests = () => receiver.requests.filter((request) => request.path === path);
    return {
      url: `https://localhost:${receiver.port}${path}`,
      get requests() {
        return requests();
      },
      get eventIds() {
        return requests()
          .filter(({ body }) => !body.includes(PING))
          .map(({ headers }) => String(headers['webhook-id']));
      },
      answer: (how) => answers.set(path, typeof how === 'number' ? answerWith(how) : how),
      hold() {
        const waiting: ServerResponse[] = [];
        answers.set(path, (_request, response) => void waiting.push(response));
        return {
          get count() {
            return waiting.length;
          },
          release(status, most = waiting.length) {
            for (const response of waiting.splice(0, most)) response.writeHead(status).end();
          },
        };
      },
    };
  };
  const subscriptionOf = async (tenant: TestTenant, subscriptionId: string) =>
    (await webhooks.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription!;
  return {
    ...webhooks,
    harness,
    endpoint,
    async subscribed(tenant, { ordered = false, eventTypes = ['payment.succeeded.v1'] } = {}) {
      const target = endpoint();
      const { subscription } = await webhooks.subscriptions.createWebhookSubscription({
        ...newWrite(tenant),
        url: target.url,
        eventTypes,
        ordered,
      });
      const { id } = subscription!;
      await eventually(async () =>
        expect((await subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.ACTIVE),
      );
      return { id, endpoint: target };
    },
    subscriptionOf,
    async attemptAgain(tenant, deliveryId) {
      const { attemptNumber } = await webhooks.dispatch.requestAttempt({ deliveryId, now: true });
      expect(attemptNumber).toBeDefined();
      await webhooks.dispatch.awaitAttempt({ deliveryId, attemptNumber: attemptNumber!, waitMs: 20_000 });
      return webhooks.deliveries.getDelivery({ ...tenant, deliveryId });
    },
    async statuses(tenant) {
      const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 100 });
      return deliveries
        .filter(({ eventType }) => eventType !== 'webhook.ping.v1')
        .map(({ status }) => DeliveryStatus[status]!)
        .reverse();
    },
    async [Symbol.asyncDispose]() {
      await harness.close();
      await receiver[Symbol.asyncDispose]();
    },
  };
}
