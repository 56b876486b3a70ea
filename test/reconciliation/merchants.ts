import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { backOff } from '../../workflows/retrying.ts';
import type { ArrivalLog } from './endpoints.ts';
import { retryUntilAnswered } from './publishers.ts';
import type { KnownSubscription } from './records.ts';
import type { System } from './system.ts';

/** What a merchant subscribes to, and where. */
export interface Wanted {
  readonly merchantId: string;
  /** Port of the endpoint, as the lane owners reach it. */
  readonly port: number;
  readonly eventTypes: readonly string[];
}

/** A subscription or a problem, as returned by the public API. */
interface Body {
  readonly id: string;
  readonly code?: string;
}

const CALL_TIMEOUT_MS = 5_000;

/**
 * Merchants who subscribe over the public API, and teams who do so for them. Each repeats a request until its outcome
 * is clear.
 */
export class Merchants {
  readonly subscriptions: KnownSubscription[] = [];
  readonly refused: string[] = [];
  readonly #system: System;
  readonly #log: ArrivalLog;
  readonly #keys = new Map<string, string>();
  readonly #subscriptionService;
  readonly #apiKeyService;

  constructor(system: System, log: ArrivalLog) {
    this.#system = system;
    this.#log = log;
    const transport = remoteTransport(system.servicesUrl, system.token);
    this.#subscriptionService = createClient(WebhookSubscriptionService, transport);
    this.#apiKeyService = createClient(ApiKeyService, transport);
  }

  /** Creates a merchant of the sandbox with an API key; returns its id. */
  async join(): Promise<string> {
    const tenant = { merchantId: randomUUID(), environment: Environment.TEST };
    const { key } = await this.#apiKeyService.issueApiKey({
      ...tenant,
      idempotencyKey: randomUUID(),
      name: 'Shop',
      scopes: [ApiKeyScope.WEBHOOKS_MANAGE],
    });
    this.#keys.set(tenant.merchantId, key);
    return tenant.merchantId;
  }

  /** Over the public API. */
  async subscribe({ merchantId, port, eventTypes }: Wanted): Promise<void> {
    const url = newUrl(port);
    const { id } = await this.#post(merchantId, { url, eventTypes });
    const named = { merchantId, environment: Environment.TEST, subscriptionId: id };
    const { subscription } = await retryUntilAnswered(() =>
      this.#subscriptionService.getWebhookSubscription(named, { timeoutMs: CALL_TIMEOUT_MS }),
    );
    await this.#learn(subscription!);
  }

  /** Over the internal port, with ordered delivery. */
  async subscribeOrdered({ merchantId, port, eventTypes }: Wanted): Promise<void> {
    const tenant = { merchantId, environment: Environment.TEST };
    const wanted = { url: newUrl(port), eventTypes: [...eventTypes], ordered: true };
    const request = { ...tenant, idempotencyKey: randomUUID(), ...wanted };
    const { subscription } = await retryUntilAnswered(() =>
      this.#subscriptionService.createWebhookSubscription(request, { timeoutMs: CALL_TIMEOUT_MS }),
    );
    await this.#learn(subscription!);
  }

  async #learn(subscription: WebhookSubscription): Promise<void> {
    const { id, merchantId, environment, eventTypes, ordered, url } = subscription;
    const path = new URL(url).pathname;
    this.subscriptions.push({
      id,
      merchantId,
      eventTypes,
      ordered,
      path,
      createdAtMs: timestampMs(subscription.createdAt!),
      answeredAt: Date.now(),
    });
    const reveal = { merchantId, environment, subscriptionId: id, idempotencyKey: randomUUID() };
    const { signingSecret } = await retryUntilAnswered(() =>
      this.#subscriptionService.revealSigningSecret(reveal, { timeoutMs: CALL_TIMEOUT_MS }),
    );
    this.#log.knowSecret(path, signingSecret);
  }

  async #post(merchantId: string, wanted: object): Promise<Body> {
    const idempotencyKey = randomUUID();
    for (let failures = 0; ; failures += 1) {
      const answer = await fetch(`${this.#system.gatewayUrl}/v1/webhook-subscriptions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#keys.get(merchantId)}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify(wanted),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      })
        .then(async (response) => ({ status: response.status, body: (await response.json()) as Body }))
        .catch(() => undefined);
      if (answer?.status === 201) return answer.body;
      const mayPass =
        !answer || answer.status >= 500 || answer.status === 429 || answer.body.code === KEY_IN_USE;
      if (!mayPass) throw new Error(`subscribing was refused: ${JSON.stringify(answer)}`);
      await backOff(failures);
    }
  }
}

const KEY_IN_USE = 'IDEMPOTENCY_KEY_IN_USE';
const newUrl = (port: number) => `https://localhost:${port}/hooks/${randomUUID()}`;

/**
 * Makes a merchant subscribe from time to time until `stop`, which resolves when the last subscription is created.
 */
export function subscribeOn(
  merchants: Merchants,
  everyMs: number,
  next: (n: number) => Wanted,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const open: Promise<void>[] = [];
  const running = (async () => {
    for (let n = 0; !signal.aborted; n += 1) {
      open.push(
        merchants.subscribe(next(n)).catch((error: Error) => void merchants.refused.push(error.message)),
      );
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(open);
    },
  };
}
