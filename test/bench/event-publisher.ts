import { Pool } from 'undici';
import { startAtRate } from './calls-at-rate.ts';
import { EVENT_DATA, EVENT_TYPE } from './event-data.ts';
import type { StartedSystem } from './started-system.ts';

/** An accepted event, and when it was acknowledged, by `performance.now`. */
export interface AcceptedEvent {
  readonly id: string;
  readonly acceptedAt: number;
}

/** A rate of events a second, independent of responses, or a number of concurrent calls. */
export type Load = { readonly perSecond: number } | { readonly atATime: number };

/** Calls the internal API by Connect's JSON over HTTP/1.1. */
export class Publisher {
  readonly #pool: Pool;
  readonly #token: string;

  constructor({ grpcUrl, token }: StartedSystem, connections: number) {
    this.#pool = new Pool(grpcUrl, { connections });
    this.#token = token;
  }

  /** Publishes for a merchant in the sandbox. Returns the accepted events; throws at the first refusal. */
  async publish(merchantId: string, load: Load, seconds: number): Promise<AcceptedEvent[]> {
    const one = async () => {
      const accepted = await this.offer(merchantId);
      if (accepted === 503) throw new Error('the system is overloaded');
      return accepted;
    };
    if ('atATime' in load) {
      const endsAt = performance.now() + seconds * 1_000;
      const lane = async () => {
        const accepted: AcceptedEvent[] = [];
        while (performance.now() < endsAt) accepted.push(await one());
        return accepted;
      };
      return (await Promise.all(Array.from({ length: load.atATime }, lane))).flat();
    }
    return startAtRate(one, load.perSecond, seconds);
  }

  /** Publishes one event; 503 if it was refused as OVERLOADED. */
  async offer(merchantId: string): Promise<AcceptedEvent | 503> {
    const request = {
      ...writeOf(merchantId),
      type: EVENT_TYPE,
      objectId: crypto.randomUUID(),
      data: EVENT_DATA,
    };
    const { statusCode, answer } = await this.#post('EventService/PublishEvent', request);
    if (statusCode === 503 && answer.includes('"OVERLOADED"')) return 503;
    if (statusCode !== 200) throw new Error(`PublishEvent answered ${statusCode}: ${answer}`);
    const { event } = JSON.parse(answer) as { event: { id: string } };
    return { id: event.id, acceptedAt: performance.now() };
  }

  /** Subscribes a merchant of the sandbox to the published events. */
  async subscribe(merchantId: string, url: string): Promise<void> {
    const request = { ...writeOf(merchantId), url, eventTypes: [EVENT_TYPE] };
    const rpc = 'WebhookSubscriptionService/CreateWebhookSubscription';
    const { statusCode, answer } = await this.#post(rpc, request);
    if (statusCode !== 200) throw new Error(`${rpc} answered ${statusCode}: ${answer}`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #post(rpc: string, request: object): Promise<{ statusCode: number; answer: string }> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: `/payments.webhooks.v1.${rpc}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify(request),
    });
    return { statusCode, answer: await body.text() };
  }
}

const writeOf = (merchantId: string) => ({
  merchantId,
  environment: 'ENVIRONMENT_TEST',
  idempotencyKey: crypto.randomUUID(),
});
