import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type WebhooksFixture, webhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import { newTenant, startHarness, type TestHarness } from '../support/harness.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { type Program, startProgram } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';

/** Enough that each process owns the lanes of some of them. */
const SUBSCRIPTIONS = 12;
const PUBLISH_INTERVAL_MS = 200;
const SOON = { timeout: 120_000, interval: 50 };

interface Published {
  readonly id: string;
  readonly atMs: number;
}

/** An event that arrived at an endpoint more than once; times in milliseconds since 1970. */
interface Repeated {
  readonly firstAt: number;
  readonly secondAt: number;
}

/** Services in this process, which send nothing, and two processes that send a merchant's webhooks. */
export class LaneOwners implements AsyncDisposable {
  first!: Program;
  second!: Program;
  /** Called by the endpoints when an event arrives, instead of responding. */
  onEvent: (() => void) | undefined;
  readonly #harness: TestHarness;
  readonly #settings: Record<string, string>;
  readonly #webhooks: WebhooksFixture;
  readonly #tenant = newTenant(Environment.TEST);
  /** When each event arrived, by path and id. */
  readonly #arrivals = new Map<string, number[]>();
  #receiver!: Receiver;

  private constructor(harness: TestHarness, settings: Record<string, string>) {
    this.#harness = harness;
    this.#settings = settings;
    this.#webhooks = webhooksFixture(harness, harness.transports.inProcess);
  }

  static async start(): Promise<LaneOwners> {
    const settings = { ...loopbackSettings(), ...newKeyRings(), LOG_LEVEL: 'error' };
    const owners = new LaneOwners(await startHarness(settings), settings);
    owners.startFirst();
    owners.second = owners.#startOwner();
    await owners.areSharing();
    await owners.#subscribe();
    return owners;
  }

  startFirst(): void {
    this.first = this.#startOwner();
  }

  /** Waits until each process owns half of the lanes. */
  areSharing(): Promise<void> {
    return vi.waitFor(async () => expect(await this.lanesByOwner()).toEqual([32, 32]), SOON);
  }

  /** The number of lanes of each process with a valid lease. */
  async lanesByOwner(): Promise<number[]> {
    const rows = await this.#webhooks.sql<{ lanes: number }>(
      `select count(l.id)::int as lanes from webhooks.lane_owner o join webhooks.lane l on l.owner_id = o.id
        where o.leased_until > now() group by o.id`,
    );
    return rows.map(({ lanes }) => lanes);
  }

  /** The id of the process that owns the lane of each endpoint. */
  async ofEndpoints(): Promise<string[]> {
    const rows = await this.#webhooks.sql<{ owner: string }>(
      `select l.owner_id as owner from webhooks.subscription s join webhooks.lane l on l.id = s.lane
        order by length(s.url), s.url`,
    );
    return rows.map(({ owner }) => owner);
  }

  /** How long events took to arrive at some of the endpoints, in milliseconds. */
  latencies(published: readonly Published[], isAmong: (endpoint: number) => boolean): number[] {
    return published.flatMap((event) =>
      this.#timesOf(event).flatMap(([firstAt], endpoint) =>
        isAmong(endpoint) ? [firstAt! - event.atMs] : [],
      ),
    );
  }

  /** Publishes events until `stop`, which returns them. */
  publish() {
    const published: Published[] = [];
    let isStopped = false;
    const running = (async () => {
      while (!isStopped) {
        const { id } = await this.#webhooks.publish(this.#tenant);
        published.push({ id, atMs: Date.now() });
        await delay(PUBLISH_INTERVAL_MS);
      }
    })();
    return {
      get count() {
        return published.length;
      },
      atLeast: (count: number) =>
        vi.waitFor(() => expect(published.length).toBeGreaterThanOrEqual(count), SOON),
      async stop() {
        isStopped = true;
        await running;
        return published;
      },
    };
  }

  /** Waits until every endpoint has received the events. */
  async #haveArrived(published: readonly Published[]): Promise<void> {
    await vi.waitFor(() => {
      const missing = published.flatMap((event) =>
        this.#timesOf(event).filter(([time]) => time === undefined),
      );
      expect(missing).toEqual([]);
    }, SOON);
  }

  /**
   * Waits until events are delivered.
   * @param since only events published later count as slow: an attempt that a process had recorded as in flight when it was
   * killed is repeated once its timeout has passed.
   * @returns the time of the slowest delivery, and the events that arrived more than once.
   */
  async delivered(
    published: readonly Published[],
    since = 0,
  ): Promise<{ slowestMs: number; repeated: Repeated[] }> {
    await this.#haveArrived(published);
    let slowestMs = 0;
    const repeated: Repeated[] = [];
    for (const event of published) {
      for (const [firstAt, secondAt] of this.#timesOf(event)) {
        if (event.atMs >= since) slowestMs = Math.max(slowestMs, firstAt! - event.atMs);
        if (secondAt !== undefined) repeated.push({ firstAt: firstAt!, secondAt });
      }
    }
    return { slowestMs, repeated };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.first?.kill(), this.second?.kill()]);
    await this.#harness.close();
    await this.#receiver?.[Symbol.asyncDispose]();
  }

  #startOwner(): Program {
    return startProgram('services/main.ts', {
      ...this.#settings,
      DATABASE_URL: this.#harness.databaseUrl,
      SERVICES: 'webhook-lanes',
      HOST: '127.0.0.1',
      GRPC_PORT: '0',
      OPS_PORT: '0',
    });
  }

  /** Endpoints of one merchant, each of which gets every event. */
  async #subscribe(): Promise<void> {
    const receiver: Receiver = await startReceiver((request, response) => {
      const { id, type } = JSON.parse(String(receiver.requests.at(-1)!.body));
      if (type === 'webhook.ping.v1') return response.writeHead(204).end();
      const key = `${request.url} ${id}`;
      this.#arrivals.set(key, [...(this.#arrivals.get(key) ?? []), Date.now()]);
      return this.onEvent ? this.onEvent() : response.writeHead(204).end();
    });
    this.#receiver = receiver;
    for (let n = 0; n < SUBSCRIPTIONS; n += 1)
      await this.#webhooks.subscribe(this.#tenant, undefined, `https://localhost:${receiver.port}/${n}`);
    await vi.waitFor(async () => {
      const { subscriptions } = await this.#webhooks.subscriptions.listWebhookSubscriptions(this.#tenant);
      expect(new Set(subscriptions.map(({ state }) => state)).size).toBe(1);
      expect(receiver.requests).toHaveLength(SUBSCRIPTIONS);
    }, SOON);
  }

  /** By endpoint. */
  #timesOf({ id }: Published): number[][] {
    return Array.from({ length: SUBSCRIPTIONS }, (_, n) => this.#arrivals.get(`/${n} ${id}`) ?? []);
  }
}
