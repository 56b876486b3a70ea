import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { callService } from './call-service.ts';
import type { DemoFile } from './demo-file.ts';
import type { ReceivedDelivery } from './demo-receiver.ts';

const ARRIVAL_TIMEOUT_MS = 50_000;
const POLL_MS = 50;

/** The demo receiver of `npm start`, on a path unique to this run. */
export class DemoReceiverClient {
  /** The webhook endpoint. */
  readonly url: string;
  readonly #dispatcher: Agent;
  readonly #origin: string;
  readonly #path: string;

  private constructor(url: URL, ca: string) {
    this.url = url.href;
    this.#dispatcher = new Agent({ connect: { ca } });
    this.#origin = url.origin;
    this.#path = url.pathname;
  }

  static async open({ receiver }: Pick<DemoFile, 'receiver'>): Promise<DemoReceiverClient> {
    const url = new URL(`${receiver.url}-${randomUUID().slice(0, 8)}`);
    return new DemoReceiverClient(url, await readFile(receiver.ca, 'utf8'));
  }

  /** Makes the receiver return 500 to the next delivery. */
  async failNext(): Promise<void> {
    await this.#request('POST', `/fail?count=1&status=500&path=${this.#path}`);
  }

  /** Waits for the first delivery of an event type to which the receiver returned this status. */
  async waitForDelivery(type: string, status: number): Promise<ReceivedDelivery> {
    const deadline = Date.now() + ARRIVAL_TIMEOUT_MS;
    while (Date.now() < deadline) {
      const deliveries = await this.#deliveries();
      const found = deliveries.findLast(({ answered, body }) => answered === status && typeOf(body) === type);
      if (found) return found;
      await delay(POLL_MS);
    }
    throw new Error(
      `${type} did not arrive within ${ARRIVAL_TIMEOUT_MS / 1_000} s: see the lines of npm start`,
    );
  }

  async #deliveries(): Promise<ReceivedDelivery[]> {
    const text = await this.#request('GET', `/deliveries?path=${this.#path}`);
    return (JSON.parse(text) as { deliveries: ReceivedDelivery[] }).deliveries;
  }

  #request(method: 'GET' | 'POST', path: string): Promise<string> {
    return callService(this.#origin, async () => {
      const { body } = await request(`${this.#origin}${path}`, { method, dispatcher: this.#dispatcher });
      return body.text();
    });
  }
}

function typeOf(body: string): string {
  return (JSON.parse(body) as { type: string }).type;
}
